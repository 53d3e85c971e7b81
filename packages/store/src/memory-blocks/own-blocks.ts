import type { BlockGrantMode, BlockScope } from '@heddle/contracts'
import type { ContextBlock } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { type BlockRow, blockColumns } from './blocks.js'

/** Ids of the owners whose blocks a context shows; null: of no such owner. The project is always among them. */
export interface BlockOwners {
  readonly agentId: string | null
  readonly threadId: string | null
}

export interface OwnedBlock extends BlockRow {
  readonly scope: BlockScope
  /** The grant by which the agent sees a block of another one. */
  readonly shared?: { readonly by: string; readonly mode: BlockGrantMode }
}

export interface ContextBlocksQuery extends BlockOwners {
  /** The time of the last compaction, in milliseconds since 1970. */
  readonly baseMs: number
  /** Whether the thread is a run, which is compacted with each of its progress summaries. */
  readonly isRun: boolean
}

/** The current blocks of some owners, by scope and label. */
export async function listOwnBlocks(tx: Tx, owners: BlockOwners): Promise<readonly OwnedBlock[]> {
  return await tx<OwnedBlock[]>`
    select ${blockColumns(tx)}, block.scope
    from (${blocksOf(tx, owners)}) as block
    join heddle.memory_block_versions as made
      on made.owner_id = block.owner_id and made.label = block.label and made.version = block.version
    where not made.removed
    order by block.place, block.label collate "C"`
}

/** The same as of a compaction and as of now. */
export async function loadOwnBlocks(tx: Tx, query: ContextBlocksQuery): Promise<readonly ContextBlock[]> {
  return await tx<ContextBlock[]>`
    select block.scope, block.label, ${contentOf(tx, 'latest')} as current,
      case when base.version is null then null else ${contentOf(tx, 'base')} end as base
    from (${blocksOf(tx, query)}) as block
    join heddle.memory_block_versions as latest
      on latest.owner_id = block.owner_id and latest.label = block.label and latest.version = block.version
    left join lateral (
      select * from heddle.memory_block_versions as made
      where made.owner_id = block.owner_id and made.label = block.label and made.created_at <= ${compactedAt(tx, query)}
      order by made.version desc limit 1) as base on true
    where not (latest.removed and coalesce(base.removed, true))
    order by block.place, block.label collate "C"`
}

/** The time of the last compaction, as an expression. */
export function compactedAt(tx: Tx, { baseMs, isRun, threadId }: ContextBlocksQuery) {
  const summarized = isRun
    ? tx`coalesce((
        select max(created_at) from heddle.progress_summaries where thread_id = ${threadId}), '-infinity')`
    : tx`'-infinity'::timestamptz`
  return tx`greatest(${baseMs}::timestamptz, ${summarized})`
}

function blocksOf(tx: Tx, { agentId, threadId }: BlockOwners) {
  return tx`
    select owner.scope, owner.place, block.owner_id, block.label, block.version
    from (values
      ('project', 1, nullif(current_setting('heddle.project_id', true), '')::uuid),
      ('agent', 2, ${agentId}::uuid),
      ('thread', 3, ${threadId}::uuid)) as owner (scope, place, id)
    join heddle.memory_blocks as block on block.owner_id = owner.id`
}

/** A version of a block as an expression, from a row of this alias. */
export function contentOf(tx: Tx, alias: 'latest' | 'base') {
  const made = tx.unsafe(alias)
  return tx`json_build_object(
    'version', ${made}.version, 'value', ${made}.value, 'description', ${made}.description,
    'charactersMax', ${made}.characters_max, 'readOnly', ${made}.read_only, 'removed', ${made}.removed)`
}
