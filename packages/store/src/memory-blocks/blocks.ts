import type { BlockChangeKind, BlockScope } from '@heddle/contracts'
import type { BlockContent } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { agentStands, threadStands } from '../messages/tombstones.js'
import type { Columns } from '../schema/rows.js'

/** The owner of blocks: a thread, an agent, or the project. */
export interface BlockOwner {
  readonly scope: BlockScope
  /** The id of the thread, the agent or the project. */
  readonly ownerId: string
}

/** Names a block. */
export interface BlockRef extends BlockOwner {
  readonly label: string
}

export interface BlockRow
  extends Columns<
    'memoryBlockVersions',
    | 'label'
    | 'version'
    | 'description'
    | 'value'
    | 'charactersMax'
    | 'readOnly'
    | 'removed'
    | 'change'
    | 'requestId'
    | 'createdAtMs'
    | 'writtenBy'
  > {
  /**
   * The name of the agent that made the version through a grant; null without one, and for an erased agent, also if another
   * one has its name now.
   */
  readonly writerName: string | null
}

export const blockColumns = (tx: Tx) => tx`
  made.label, made.version, made.description, made.value, made.characters_max, made.read_only, made.removed, made.change,
  made.request_id, made.created_at as created_at_ms, made.written_by, (
    select agent.name from heddle.agents as agent
    where agent.id = made.written_by and agent.created_at <= made.created_at and ${agentStands(tx)}
  ) as writer_name`

/**
 * Protects the owner from erasure until the transaction ends.
 *
 * @returns false if there is no such owner, or it is erased
 */
export async function holdBlockOwner(tx: Tx, { scope, ownerId }: BlockOwner): Promise<boolean> {
  if (scope === 'project') return true
  const { count } = await (scope === 'thread'
    ? tx`select from heddle.threads as thread where thread.id = ${ownerId} and ${threadStands(tx)} for key share of thread`
    : tx`select from heddle.agents as agent where agent.id = ${ownerId} and ${agentStands(tx)} for key share of agent`)
  return count === 1
}

/** Locks a block until the transaction ends: changes of one block run one after another. @returns its latest version */
export async function lockBlock(tx: Tx, { ownerId, label }: BlockRef): Promise<BlockRow | null> {
  const { count } = await tx`
    select from heddle.memory_blocks where owner_id = ${ownerId} and label = ${label} for update`
  return count === 0 ? null : await loadBlock(tx, { ownerId, label })
}

/**
 * Locks a block, and creates it before if it is missing.
 *
 * @returns its latest version; null for a new one
 */
export async function lockNewBlock(tx: Tx, ref: BlockRef): Promise<BlockRow | null> {
  await tx`
    insert into heddle.memory_blocks (agent_id, thread_id, label)
    values (${idIn(ref, 'agent')}::uuid, ${idIn(ref, 'thread')}::uuid, ${ref.label})
    on conflict do nothing`
  return await lockBlock(tx, ref)
}

const idIn = ({ scope, ownerId }: BlockOwner, of: BlockScope) => (scope === of ? ownerId : null)

/** Blocks of an owner, including removed ones. */
export async function countBlocks(tx: Tx, { ownerId }: Pick<BlockOwner, 'ownerId'>): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::integer as count from heddle.memory_blocks where owner_id = ${ownerId}`
  return row?.count ?? 0
}

/** A version of a block, by default the latest; null without one. */
export async function loadBlock(
  tx: Tx,
  {
    ownerId,
    label,
    version,
  }: { readonly ownerId: string; readonly label: string; readonly version?: number | undefined },
): Promise<BlockRow | null> {
  const [row] = await tx<BlockRow[]>`
    select ${blockColumns(tx)} from heddle.memory_block_versions as made
    where made.owner_id = ${ownerId} and made.label = ${label}
      and ${version === undefined ? tx`true` : tx`made.version = ${version}`}
    order by made.version desc limit 1`
  return row ?? null
}

/** The version that a request made. */
export async function findBlockOfRequest(
  tx: Tx,
  { ownerId, label }: BlockRef,
  requestId: string,
): Promise<BlockRow | null> {
  const [row] = await tx<BlockRow[]>`
    select ${blockColumns(tx)} from heddle.memory_block_versions as made
    where made.owner_id = ${ownerId} and made.label = ${label} and made.request_id = ${requestId}`
  return row ?? null
}

export interface NewBlockVersion extends BlockContent {
  readonly version: number
  readonly removed: boolean
  readonly change: BlockChangeKind
  readonly requestId: string | null
  /** The agent that makes it through a grant. */
  readonly writtenBy: string | null
}

/** Adds the next version of a locked block. */
export async function insertBlockVersion(tx: Tx, ref: BlockRef, made: NewBlockVersion): Promise<BlockRow> {
  const { ownerId, label } = ref
  const [[row]] = await Promise.all([
    tx<BlockRow[]>`
      insert into heddle.memory_block_versions as made (
        agent_id, thread_id, label, version, description, value, characters_max, read_only, removed, change, request_id,
        written_by)
      values (
        ${idIn(ref, 'agent')}::uuid, ${idIn(ref, 'thread')}::uuid, ${label}, ${made.version}, ${made.description},
        ${made.value}, ${made.charactersMax}, ${made.readOnly}, ${made.removed}, ${made.change}, ${made.requestId}::uuid,
        ${made.writtenBy}::uuid)
      returning ${blockColumns(tx)}`,
    tx`update heddle.memory_blocks set version = ${made.version} where owner_id = ${ownerId} and label = ${label}`,
  ])
  if (row === undefined) throw new Error('the version is missing after it was stored')
  return row
}

/** A page of the versions of a block, the newest first. */
export async function listBlockVersions(
  tx: Tx,
  { ownerId, label, before, limit }: BlockRef & { readonly before: number | undefined; readonly limit: number },
): Promise<readonly BlockRow[]> {
  return await tx<BlockRow[]>`
    select ${blockColumns(tx)} from heddle.memory_block_versions as made
    where made.owner_id = ${ownerId} and made.label = ${label}
      and ${before === undefined ? tx`true` : tx`made.version < ${before}`}
    order by made.version desc limit ${limit}`
}
