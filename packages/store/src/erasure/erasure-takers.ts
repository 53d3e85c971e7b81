import type { PendingQuery, Row } from 'postgres'
import type { Tx } from '../connection/connection.js'
import { takeArchive } from './erasure-archive.js'
import { takeMessages } from './erasure-messages.js'
import { takePostings, takePostingsOfAgent } from './erasure-postings.js'
import { takeSnapshot, takeSnapshotsOfAgent } from './erasure-snapshots.js'
import { type ErasedThing, ROWS_PER_STEP, type Taker } from './erasure-step.js'
import { takeContextsWithBlocksOf } from './messages/erased-contexts.js'

/** The SQL condition for the rows that belong to the target. */
type Condition = (tx: Tx, thing: ErasedThing) => PendingQuery<Row[]>

/**
 * Removes rows by their keys and not by `ctid`, so that a row that another transaction is changing is removed, too.
 */
function takeRows(table: string, key: string, condition: Condition, name = table): Taker {
  return async (tx, thing) => {
    const where = condition(tx, thing)
    const { count } = await tx`
      delete from heddle.${tx(table)}
      where ${where} and ${tx(key)} = any(array(
        select ${tx(key)} from heddle.${tx(table)} where ${where} limit ${ROWS_PER_STEP}))`
    return { [name]: count }
  }
}

const ofThread = (tx: Tx, { targetId }: ErasedThing) => tx`thread_id = ${targetId}`
const ofAgent = (tx: Tx, { targetId }: ErasedThing) => tx`agent_id = ${targetId}`
const ofProject = (tx: Tx, { projectId }: ErasedThing) => tx`project_id = ${projectId}`

/**
 * Removes the row of the thread first, with all rows that refer to it by a foreign key; from then on no stage publishes
 * anything for it. The thread's row is locked before its cursor, in the same order as by stages.
 */
const takeThread: Taker = async (tx, { targetId }) => {
  const { count } = await tx`select from heddle.threads where id = ${targetId} for update`
  // With this lock no new context can mention the thread; contexts that do are removed while `context_mentions` still has them.
  const mentions = await takeMentions(tx, targetId)
  if (mentions > 0) return { contexts: mentions }
  const parts = [
    'thread_versions',
    'processes',
    'running_processes',
    'progress_summaries',
    'iterations',
    'thread_items',
    'undone_messages',
    'pins',
    'kept_lanes',
    'memory_blocks',
    'fact_scopes',
    'thread_origins',
  ]
  const counts =
    count === 0
      ? []
      : await Promise.all(parts.map((table) => tx`delete from heddle.${tx(table)} where thread_id = ${targetId}`))
  const [threads] = await Promise.all([
    tx`delete from heddle.threads where id = ${targetId}`,
    // A new thread with the name continues the sequence from its head.
    tx`
      with taken as (delete from heddle.stage_cursors where thread_id = ${targetId} returning head_seq)
      update heddle.tombstones set head_seq = greatest(tombstones.head_seq, taken.head_seq)
      from taken where target_id = ${targetId} and kind = 'thread'`,
  ])
  return {
    threads: threads.count,
    ...Object.fromEntries(counts.map((result, index) => [parts[index] ?? '', result.count])),
  }
}

/** Contexts of the agent's other threads that show the title, the goal or the status of this one. */
async function takeMentions(tx: Tx, threadId: string): Promise<number> {
  const [{ count }, traces] = await Promise.all([
    tx`
      delete from heddle.contexts
      where id = any(array(
        select context_id from heddle.context_mentions where thread_id = ${threadId} limit ${ROWS_PER_STEP}))`,
    tx`select from heddle.context_mentions where thread_id = ${threadId} limit 1`,
  ])
  return Math.max(count, traces.count)
}

/** Removes single vectors, if the server has pgvector, in steps, before the thread's row would cascade to all of them. */
const takePoints: Taker = async (tx, thing) => {
  const [table] = await tx<{ found: boolean }[]>`select to_regclass('heddle.vector_points') is not null as found`
  return table?.found === true ? await takeRows('vector_points', 'seq', ofThread)(tx, thing) : {}
}

/** Contexts of other agents that may show blocks of this one. With the lock no more of them are stored: see `finishContext`. */
const takeShownBlocks: Taker = async (tx, { targetId }) => {
  const { count } = await tx`select from heddle.agents where id = ${targetId} for update`
  return count === 0 ? {} : { contexts: await takeContextsWithBlocksOf(tx, targetId) }
}

/** Removes an agent's row with its versions, clears, items and blocks. Its threads have been removed by then. */
const takeAgent: Taker = async (tx, { targetId }) => {
  const { count } = await tx`select from heddle.agents where id = ${targetId} for update`
  if (count === 0) return {}
  const [grants, blocks, scopes, itemVectors, itemVersions, items, toolServers, versions, clears, agents] =
    await Promise.all([
      tx`delete from heddle.memory_block_grants where owner_id = ${targetId} or grantee_agent_id = ${targetId}`,
      tx`delete from heddle.memory_blocks where agent_id = ${targetId}`,
      tx`delete from heddle.fact_scopes where agent_id = ${targetId}`,
      tx`
      delete from heddle.item_vectors
      where item_id = any(array(select id from heddle.items where agent_id = ${targetId}))`,
      tx`
      delete from heddle.item_versions
      where item_id = any(array(select id from heddle.items where agent_id = ${targetId}))`,
      tx`delete from heddle.items where agent_id = ${targetId}`,
      tx`delete from heddle.tool_servers where agent_id = ${targetId}`,
      tx`delete from heddle.agent_versions where agent_id = ${targetId}`,
      tx`delete from heddle.agent_clears where agent_id = ${targetId}`,
      tx`delete from heddle.agents where id = ${targetId}`,
    ])
  return {
    memory_block_grants: grants.count,
    memory_blocks: blocks.count,
    fact_scopes: scopes.count,
    item_vectors: itemVectors.count,
    item_versions: itemVersions.count,
    items: items.count,
    tool_servers: toolServers.count,
    agent_versions: versions.count,
    agent_clears: clears.count,
    agents: agents.count,
  }
}

/** Keys of the project are revoked before anything else is removed. */
const takeKeys: Taker = async (tx, { projectId }) => {
  const [keys, grants] = await Promise.all([
    tx`delete from heddle.api_keys where project_id = ${projectId}`,
    tx`delete from heddle.grants where project_id = ${projectId}`,
  ])
  return { api_keys: keys.count, grants: grants.count }
}

/** A trigger of the project's row removes the grants that other projects gave it, which this one cannot see. */
const takeProject: Taker = async (tx, { projectId }) => {
  const { count } = await tx`delete from heddle.projects where project_id = ${projectId}`
  return { projects: count }
}

/** The project's own tombstone replaces those of its parts, which are not counted as removed rows. */
const takePartTombstones: Taker = async (tx, { projectId }) => {
  await tx`delete from heddle.tombstones where project_id = ${projectId} and kind <> 'project'`
  return {}
}

/** Visible data is removed first, and derived data before its source. */
const takers = {
  thread: [
    takeRows('facts', 'id', ofThread),
    takeThread,
    takeRows('contexts', 'id', ofThread),
    takeRows('context_lines', 'id', ofThread),
    takeRows('context_items', 'context_id', ofThread),
    takeRows('dead_letters', 'id', ofThread),
    takeRows('summary_calls', 'id', ofThread),
    takeRows('proxied_requests', 'id', ofThread),
    takeRows('proxied_conversations', 'thread_id', ofThread),
    takeRows('proxied_views', 'id', ofThread),
    takeRows('proxied_texts', 'hash', ofThread),
    takeSnapshot,
    takePoints,
    takeRows('vector_threads', 'model', ofThread),
    takeRows('vectors', 'first_chunk', ofThread),
    takePostings,
    takeRows('prunings', 'message_id', ofThread),
    takeRows('summary_leaves', 'hash', ofThread),
    takeRows('summary_parts', 'hash', ofThread),
    takeRows('context_states', 'id', (tx, thing) => tx`${ofThread(tx, thing)} and status <> 'void'`),
    takeRows('context_states', 'id', (tx, thing) => tx`${ofThread(tx, thing)} and status = 'void'`),
    takeArchive,
    takeRows('message_tokens', 'seq', ofThread),
    takeRows('message_erasures', 'message_id', ofThread),
    takeMessages,
    takeRows('thread_clears', 'epoch', ofThread),
    takeRows('events', 'number', ofThread),
  ],
  agent: [
    takeShownBlocks,
    takeRows('dead_letters', 'id', ofAgent),
    takeSnapshotsOfAgent,
    takePostingsOfAgent,
    takeRows('facts', 'id', ofAgent),
    takeAgent,
  ],
  project: [
    takeKeys,
    takeRows('dead_letters', 'id', ofProject),
    takeRows('contexts', 'id', ofProject),
    takeRows('context_lines', 'id', ofProject),
    takeRows('context_items', 'context_id', ofProject),
    takeRows('events', 'number', ofProject),
    takeRows('proxied_requests', 'id', ofProject),
    takeRows('proxied_conversations', 'thread_id', ofProject),
    takeRows('proxied_views', 'id', ofProject),
    takeRows('proxied_texts', 'hash', ofProject),
    takeRows('memory_blocks', 'label', ofProject),
    takeRows('archive_contents', 'hash', ofProject),
    takeRows('part_contents', 'hash', ofProject),
    takeRows('turns', 'name', ofProject),
    takeProject,
    takeRows('erased_messages', 'id', ofProject),
    takePartTombstones,
  ],
} as const satisfies Record<string, readonly Taker[]>

/** The takers of a kind of target, in the order in which they must run. */
export function takersOf(kind: keyof typeof takers): readonly Taker[] {
  return takers[kind]
}
