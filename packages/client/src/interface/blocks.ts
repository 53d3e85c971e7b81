import type {
  AgentBlockKey,
  BlockGrant,
  BlockGrantMode,
  BlockKey,
  InsertBlock,
  MemoryBlock,
  PutBlock,
  ReplaceBlock,
  RethinkBlock,
  UndoBlock,
} from '@heddle/contracts'
import { z } from 'zod'
import type { Page, PageOptions } from './pages.js'

export const blockWriteOptionsSchema = z.strictObject({ idempotencyKey: z.string().optional() })

export interface BlockWriteOptions {
  /** A repeat with the same key returns the version that the first one made. */
  readonly idempotencyKey?: string | undefined
}

export interface ListBlocksOptions {
  readonly thread?: string | undefined
  /** Without effect beside a thread. */
  readonly agent?: string | undefined
}

/** Another agent of the project that a block of an agent is shared with. */
export interface ShareBlock {
  readonly to: string
  /** `write`: the other agent also inserts, replaces and rethinks it. */
  readonly mode: BlockGrantMode
}

/**
 * Working memory (docs/blocks.md): short texts that agents and people edit, shown in every context of a thread, an agent or the
 * project. Changes of one block run one after another; with `ifVersion`, a change of another version throws a ConflictError
 * that has the current block in `facts.current`.
 */
export interface BlocksClient {
  /** Creates a block, or changes the given fields. */
  put(key: BlockKey, block: PutBlock, options?: BlockWriteOptions): Promise<MemoryBlock>
  insert(key: BlockKey, change: InsertBlock, options?: BlockWriteOptions): Promise<MemoryBlock>
  replace(key: BlockKey, change: ReplaceBlock, options?: BlockWriteOptions): Promise<MemoryBlock>
  rethink(key: BlockKey, change: RethinkBlock, options?: BlockWriteOptions): Promise<MemoryBlock>
  /** Takes an earlier version into force again, as a new one. */
  undo(key: BlockKey, change?: UndoBlock, options?: BlockWriteOptions): Promise<MemoryBlock>
  /** Contexts no longer show it; its versions stay until its owner is erased. */
  remove(key: BlockKey, options?: BlockWriteOptions & { readonly ifVersion?: number | undefined }): Promise<MemoryBlock>
  /** @param options `version`: an older one, also of a removed block */
  get(key: BlockKey, options?: { readonly version?: number | undefined }): Promise<MemoryBlock>
  /** All versions, the newest first. */
  history(key: BlockKey, page?: PageOptions): Promise<Page<MemoryBlock>>
  /** The blocks that contexts of a thread, an agent or the project show, in their order. */
  list(options?: ListBlocksOptions): Promise<Page<MemoryBlock>>
  /**
   * Shares a block of an agent with another agent, which sees it as `owner/label`: its key there is
   * `{ scope: 'agent', owner: to, label: 'owner/label' }`. Removing the block ends its grants.
   */
  grant(key: AgentBlockKey, grant: ShareBlock): Promise<BlockGrant>
  revoke(key: AgentBlockKey, grant: Pick<ShareBlock, 'to'>): Promise<BlockGrant>
  /** The agents that a block is shared with. */
  grants(key: AgentBlockKey): Promise<Page<BlockGrant>>
  /** All grants in which an agent is `owner` or `to`, by owner, label and other agent. */
  grantsOf(agent: string, page?: PageOptions): Promise<Page<BlockGrant>>
}
