import type { PendingQuery, Row } from 'postgres'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { byId, givenId, givenIds } from '../sql/by-id.js'
import type { ThreadRow } from '../threads/threads.js'
import { messageOf, messagesOf } from './lineage.js'

/*
 * The decisions of compactions and users about the messages that a fork shares. Of each lane the latest compaction that holds is taken
 * over, with its decisions on the messages that it does not cover: some dozen rows, whatever the length of the thread. Its leaves
 * and their summaries stay where they are: see `inherited-states.ts`.
 */

export interface Decisions {
  readonly threadId: string
  readonly origin: ThreadRow
  readonly atSeq: number
}

type LaneState = Columns<'contextStates', 'id' | 'lane' | 'generation' | 'pointId' | 'pointAtMs' | 'pointOrdinal'>

/** States of a lane that are tried, the latest first: those after a moment in the past do not hold for it. */
const STATES_PER_STEP = 200

/** @returns how many states were taken over, and whether a later one of the origin was not */
export async function forkDecisions(
  tx: Tx,
  decisions: Decisions,
): Promise<{ readonly states: number; readonly isBehind: boolean }> {
  const { origin, atSeq } = decisions
  await copyMarks(tx, decisions)
  const lanes = await tx<{ lane: string; latest: number }[]>`
    select lane, max(generation) as latest from heddle.context_states
    where thread_id = ${origin.threadId} and clear_epoch = ${origin.clearEpoch} and status <> 'void'
    group by lane`
  let states = 0
  // In the past, what comes after the last compaction may ask for another one by now.
  let isBehind = atSeq < origin.headSeq
  for (const { lane, latest } of lanes) {
    const state = await findHolding(tx, decisions, lane)
    if (state !== null) {
      await copyState(tx, decisions, state)
      states++
    }
    isBehind ||= state?.generation !== latest
  }
  return { states, isBehind }
}

/** The latest compaction of a lane that saw no message after the moment and decided nothing that these change. */
async function findHolding(tx: Tx, { origin, atSeq }: Decisions, lane: string): Promise<LaneState | null> {
  const { threadId, clearEpoch, headSeq } = origin
  let before = Number.MAX_SAFE_INTEGER
  for (;;) {
    const states = await tx<LaneState[]>`
      select id, lane, generation, point_id, point_at as point_at_ms, point_ordinal from heddle.context_states
      where thread_id = ${threadId} and lane = ${lane} and clear_epoch = ${clearEpoch} and status = 'ready'
        and generation < ${before}::bigint
      order by generation desc
      limit ${atSeq === headSeq ? 1 : STATES_PER_STEP}`
    if (atSeq === headSeq) return states[0] ?? null
    const shared = await sharedPoints(tx, { threadId, atSeq }, states)
    for (const state of states) {
      if (shared.has(state.pointId) && !(await isOvertaken(tx, { threadId, atSeq }, state))) return state
    }
    const last = states.at(-1)
    if (last === undefined || states.length < STATES_PER_STEP) return null
    before = last.generation
  }
}

/** The last messages of compactions that are not after the moment. */
async function sharedPoints(
  tx: Tx,
  { threadId, atSeq }: { readonly threadId: string; readonly atSeq: number },
  states: readonly LaneState[],
): Promise<ReadonlySet<string>> {
  const rows = await tx<{ id: string }[]>`
    select found.id
    from ${givenIds(
      tx,
      states.map(({ pointId }) => pointId),
    )}
    cross join lateral (
      select id, seq from ${messageOf(tx, threadId)} as messages where ${byId(tx, tx`messages`)}) as found
    where found.seq <= ${atSeq}`
  return new Set(rows.map(({ id }) => id))
}

/**
 * Whether a message after the moment is at or before the point of a compaction, which may have seen it. It came late, after a
 * message of a later time; or it has the same time.
 */
async function isOvertaken(
  tx: Tx,
  { threadId, atSeq }: { readonly threadId: string; readonly atSeq: number },
  { pointAtMs, pointOrdinal, pointId }: LaneState,
): Promise<boolean> {
  const [row] = await tx<{ isOvertaken: boolean }[]>`
    select exists (
      select from ${messagesOf(tx, threadId)} as message
      where message.ordered_at < message.latest_at and message.ordered_at < ${pointAtMs} and message.seq > ${atSeq}
    ) or exists (
      select from ${messagesOf(tx, threadId)} as message
      where message.ordered_at = ${pointAtMs} and message.seq > ${atSeq}
        and (message.ordinal, message.id) <= (${pointOrdinal}::integer, ${pointId}::uuid)
    ) as is_overtaken`
  return row?.isOvertaken === true
}

/** The state names the one that it is a copy of as the one that it replaces: their leaves are found by that. */
async function copyState(tx: Tx, { threadId, origin, atSeq }: Decisions, { id, lane }: LaneState): Promise<void> {
  const { clearEpoch, threadId: originId } = origin
  await tx`
    with source as (select * from heddle.context_states where id = ${id}),
    copied as (
      insert into heddle.context_states (
        id, thread_id, lane, strategy, clear_epoch, generation, replaces, status, point_at, point_ordinal, point_id, head_seq,
        top_ids, covered_from_at, covered_from_ordinal, covered_from_id, covered_to_at, covered_to_ordinal, covered_to_id,
        covered_count, covered_tokens, summary, summary_tokens, summarizer, ledger, ready_at)
      select
        gen_random_uuid(), ${threadId}, lane, strategy, clear_epoch, generation, id, status, point_at, point_ordinal, point_id,
        least(head_seq, ${atSeq}), top_ids, covered_from_at, covered_from_ordinal, covered_from_id, covered_to_at,
        covered_to_ordinal, covered_to_id, covered_count, covered_tokens, summary, summary_tokens, summarizer, ledger, now()
      from source
      returning id
    ),
    uncovered as materialized (
      select message.id from source cross join lateral (
        select id from ${messagesOf(tx, originId)} as messages
        where messages.seq <= ${atSeq}
          and (messages.ordered_at, messages.ordinal, messages.id)
            <= (source.point_at, source.point_ordinal, source.point_id)
          and (source.covered_to_at is null or (messages.ordered_at, messages.ordinal, messages.id)
            > (source.covered_to_at, source.covered_to_ordinal, source.covered_to_id))
        order by messages.ordered_at, messages.ordinal, messages.id
        offset 0) as message
      union
      select top.id from source cross join lateral unnest(source.top_ids) as top (id)
      union
      -- Late, and so not covered.
      select late.id from source cross join lateral (
        select id from ${messagesOf(tx, originId)} as messages
        where messages.seq > source.head_seq and messages.seq <= ${atSeq} order by messages.seq offset 0) as late
    )
    insert into heddle.prunings (thread_id, state_id, message_id, action, text, calls, tokens, reason, archive_id, created_at)
    select distinct on (pruning.message_id)
      ${threadId}, copied.id, pruning.message_id, pruning.action, pruning.text, pruning.calls, pruning.tokens,
      pruning.reason, pruning.archive_id, pruning.created_at
    from copied
    cross join source
    cross join uncovered
    cross join lateral (
      select * from heddle.prunings
      where prunings.thread_id = ${originId} and prunings.message_id = uncovered.id and prunings.undone_at is null
      offset 0) as pruning
    cross join lateral (
      select generation from heddle.context_states
      where context_states.id = pruning.state_id and lane = ${lane} and clear_epoch = ${clearEpoch}
        and generation <= source.generation and status <> 'void'
      offset 0) as decided
    order by pruning.message_id, decided.generation desc`
}

/** Pins and undone messages as they are now, of the messages that are shared. */
async function copyMarks(tx: Tx, { threadId, origin, atSeq }: Decisions): Promise<void> {
  const { threadId: originId } = origin
  const isShared = (messageId: PendingQuery<Row[]>) => tx`exists (
    select from (
      select found.seq from ${givenId(tx, messageId)}
      cross join lateral (
        select seq from ${messageOf(tx, originId)} as messages where ${byId(tx, tx`messages`)}) as found) as named
    where named.seq <= ${atSeq})`
  await Promise.all([
    tx`
      insert into heddle.pins (thread_id, message_id, changed_at, is_pinned, until)
      select ${threadId}, message_id, changed_at, is_pinned, until
      from (
        select distinct on (message_id) * from heddle.pins
        where thread_id = ${originId} order by message_id, changed_at desc) as pin
      where ${isShared(tx`pin.message_id`)}`,
    tx`
      insert into heddle.undone_messages (thread_id, message_id, undone_at)
      select ${threadId}, message_id, undone_at from heddle.undone_messages as undone
      where undone.thread_id = ${originId} and undone.redone_at is null and ${isShared(tx`undone.message_id`)}`,
  ])
}

/** The names of some threads that share messages which are stored in a thread, without erased ones. */
export async function forksOf(tx: Tx, threadId: string, limit: number): Promise<readonly string[]> {
  const rows = await tx<{ name: string }[]>`
    select distinct thread.name
    from (select distinct thread_id from heddle.thread_origins where origin_id = ${threadId}) as run
    join heddle.threads as thread on thread.id = run.thread_id
    where not exists (
      select from heddle.tombstones
      where tombstones.target_id in (thread.id, thread.agent_id, thread.project_id))
    order by thread.name
    limit ${limit}`
  return rows.map(({ name }) => name)
}

/** The threads that share any of some messages of a thread, or of all (null), in the order of their ids. */
export async function forksSharing(
  tx: Tx,
  threadId: string,
  seqs: readonly number[] | null,
): Promise<readonly string[]> {
  const rows = await tx<{ threadId: string }[]>`
    select distinct run.thread_id from heddle.thread_origins as run
    where run.origin_id = ${threadId} and ${
      seqs === null
        ? tx`true`
        : tx`exists (
            select from unnest(${asArray(seqs)}::bigint[]) as given (seq)
            where given.seq > run.after_seq and given.seq <= run.to_seq)`
    }
    order by run.thread_id`
  return rows.map((row) => row.threadId)
}
