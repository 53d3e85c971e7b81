import type { BlockScope } from '@heddle/contracts'
import type { ContextBlock } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import {
  type BlockOwners,
  type ContextBlocksQuery,
  compactedAt,
  listOwnBlocks,
  loadOwnBlocks,
  type OwnedBlock,
} from './own-blocks.js'
import { hasSharedBlocks, listSharedBlocks, loadSharedBlocks } from './shared-blocks.js'

/*
 * Contexts show blocks as of their last compaction before the history, and what changed since after it. A compaction is known
 * by its time: a version belongs to it if it is older. A change commits within a round trip of its own time, and a compaction is
 * seen only after it, so no version comes into the past of a compaction that a context has shown. The same holds for versions of
 * the grants by which an agent sees blocks of another one.
 */

/** The current blocks of some owners in the order of contexts. */
export async function listBlocks(tx: Tx, owners: BlockOwners): Promise<readonly OwnedBlock[]> {
  const { agentId } = owners
  const [own, shared] = await Promise.all([
    listOwnBlocks(tx, owners),
    agentId === null ? [] : listSharedBlocks(tx, agentId),
  ])
  return inOrder<OwnedBlock>(own, shared)
}

/** The blocks of a context in their order, as of a compaction and as of now. */
export async function loadContextBlocks(tx: Tx, query: ContextBlocksQuery): Promise<readonly ContextBlock[]> {
  const { agentId } = query
  // Most agents have no grant: looking for one costs a tenth of planning the statement that reads them.
  const [own, isShared] = await Promise.all([
    loadOwnBlocks(tx, query),
    agentId === null ? false : hasSharedBlocks(tx, agentId),
  ])
  const shared = isShared && agentId !== null ? await loadSharedBlocks(tx, agentId, compactedAt(tx, query)) : []
  return inOrder<ContextBlock>(own, shared)
}

/** Those of the project, of the agent, those shared with it, and those of the thread. */
function inOrder<Block extends { readonly scope: BlockScope }>(
  own: readonly Block[],
  shared: readonly Block[],
): readonly Block[] {
  if (shared.length === 0) return own
  const isOfThread = ({ scope }: Block) => scope === 'thread'
  return [...own.filter((block) => !isOfThread(block)), ...shared, ...own.filter(isOfThread)]
}

/** Gives a fork the blocks of its origin, with their history. */
export async function copyBlocks(
  tx: Tx,
  { originId, threadId }: { readonly originId: string; readonly threadId: string },
): Promise<void> {
  await tx`
    insert into heddle.memory_blocks (thread_id, label, version)
    select ${threadId}, label, version from heddle.memory_blocks where owner_id = ${originId}
    on conflict do nothing`
  await tx`
    insert into heddle.memory_block_versions (
      thread_id, label, version, description, value, characters_max, read_only, removed, change, created_at)
    select ${threadId}, label, version, description, value, characters_max, read_only, removed, change, created_at
    from heddle.memory_block_versions where owner_id = ${originId}
    on conflict do nothing`
}
