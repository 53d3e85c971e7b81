import type { BlockScope } from '@heddle/contracts'
import type { ContextBlock } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { type BlockRow, blockColumns } from './blocks.js'

/*
 * Contexts show blocks as of their last compaction before the history, and what changed since after it. A compaction is known
 * by its time: a version belongs to it if it is older. A change commits within a round trip of its own time, and a compaction is
 * seen only after it, so no version comes into the past of a compaction that a context has shown.
 */

/** Ids of the owners whose blocks a context shows; null: of no such owner. The project is always among them. */
export interface BlockOwners {
  readonly agentId: string | null
  readonly threadId: string | null
}

export interface OwnedBlock extends BlockRow {
  readonly scope: BlockScope
}

/** The current blocks of some owners in the order of contexts: by scope, then by label. */
export async function listBlocks(tx: Tx, owners: BlockOwners): Promise<readonly OwnedBlock[]> {
  return await tx<OwnedBlock[]>`
    select ${blockColumns(tx)}, block.scope
    from (${blocksOf(tx, owners)}) as block
    join heddle.memory_block_versions as made
      on made.owner_id = block.owner_id and made.label = block.label and made.version = block.version
    where not made.removed
    order by block.place, block.label collate "C"`
}

interface BlockPair extends Columns<'memoryBlockVersions', 'label'> {
  readonly scope: BlockScope
  readonly current: ContextBlock['current']
  readonly base: ContextBlock['base']
}

export interface ContextBlocksQuery extends BlockOwners {
  /** The time of the last compaction, in milliseconds since 1970. */
  readonly baseMs: number
  /** Whether the thread is a run, which is compacted with each of its progress summaries. */
  readonly isRun: boolean
}

/** The blocks of a context in their order, as of a compaction and as of now. */
export async function loadContextBlocks(
  tx: Tx,
  { baseMs, isRun, ...owners }: ContextBlocksQuery,
): Promise<readonly ContextBlock[]> {
  const summarized = isRun
    ? tx`coalesce((
        select max(created_at) from heddle.progress_summaries where thread_id = ${owners.threadId}), '-infinity')`
    : tx`'-infinity'::timestamptz`
  return await tx<BlockPair[]>`
    select block.scope, block.label, ${contentOf(tx, 'latest')} as current,
      case when base.version is null then null else ${contentOf(tx, 'base')} end as base
    from (${blocksOf(tx, owners)}) as block
    join heddle.memory_block_versions as latest
      on latest.owner_id = block.owner_id and latest.label = block.label and latest.version = block.version
    left join lateral (
      select * from heddle.memory_block_versions as made
      where made.owner_id = block.owner_id and made.label = block.label
        and made.created_at <= greatest(${baseMs}::timestamptz, ${summarized})
      order by made.version desc limit 1) as base on true
    where not (latest.removed and coalesce(base.removed, true))
    order by block.place, block.label collate "C"`
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

function contentOf(tx: Tx, alias: 'latest' | 'base') {
  const made = tx.unsafe(alias)
  return tx`json_build_object(
    'version', ${made}.version, 'value', ${made}.value, 'description', ${made}.description,
    'charactersMax', ${made}.characters_max, 'readOnly', ${made}.read_only, 'removed', ${made}.removed)`
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
