import { ConflictError, notFound, type PartialSettings, validationError } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { copyBlocks } from '../memory-blocks/context-blocks.js'
import { ensureThreads } from '../messages/ensure-threads.js'
import { holdThread, threadStands } from '../messages/tombstones.js'
import type { Columns } from '../schema/rows.js'
import { assertStorable } from '../sql/text.js'
import { loadThread, type ThreadRow } from '../threads/threads.js'
import { holdMarks } from '../window/undone.js'
import { forkDecisions } from './fork-decisions.js'
import { messagesOf, SHARED_RUNS_MAX, type SharedRun } from './lineage.js'

export interface NewFork {
  readonly projectId: string
  /** Name of the thread that is forked. */
  readonly origin: string
  /** Name of the new thread. */
  readonly name: string
  /** The last message that is shared, by its number; null: the head. */
  readonly atSeq: number | null
  /** Default: that of the origin. */
  readonly title?: string | undefined
}

export interface ForkedThread {
  readonly threadId: string
  readonly agentName: string
  /** The last shared message. */
  readonly atSeq: number
  /** False if it is there already, from an earlier call with the same arguments. */
  readonly isNew: boolean
  /** Compactions that were taken over: at most one of each lane. */
  readonly states: number
}

/**
 * Creates a thread that shares the messages of another one up to a moment, whose rows stay where they are. Decisions of
 * compactions about them hold for it, too; from then on both have a future of their own.
 *
 * @throws PermanentError `NOT_FOUND` without the origin, `VALIDATION_ERROR` for a moment that it does not have
 * @throws ConflictError if the name was used before, or the origin cannot be forked
 */
export async function forkThread(tx: Tx, fork: NewFork): Promise<ForkedThread> {
  const { projectId, name, title } = fork
  assertStorable('thread', name)
  if (title !== undefined) assertStorable('title', title)
  const originId = threadIdOf(projectId, fork.origin)
  const threadId = threadIdOf(projectId, name)
  // Marks before the thread, as in all other transactions.
  await holdMarks(tx, originId, 'read')
  const isHeld = await holdThread(tx, originId)
  // As in `insertState`: a clear comes before, or concerns the fork as well.
  await tx`
    select from heddle.agents
    where id = (select agent_id from heddle.threads where id = ${originId}) for share`
  const origin = isHeld ? await loadThread(tx, { threadId: originId }) : null
  if (origin === null) throw notFound('thread', fork.origin, 'see `heddle threads list`')
  const made = async (): Promise<ForkedThread | null> => {
    const moment = await loadForkMoment(tx, threadId)
    if (moment?.parentId !== originId || moment.atSeq !== (fork.atSeq ?? moment.atSeq)) return null
    return { threadId, agentName: origin.agentName, atSeq: moment.atSeq, isNew: false, states: 0 }
  }
  const earlier = await made()
  if (earlier !== null) return earlier
  const atSeq = fork.atSeq ?? origin.headSeq
  refuseMoment(origin, atSeq)
  if (!(await create(tx, fork, { threadId, origin }))) {
    // By another call with the same arguments, of which this one waited for the commit.
    const meanwhile = await made()
    if (meanwhile !== null) return meanwhile
    throw nameTaken(name)
  }
  const { states, isBehind } = await addContents(tx, { threadId, origin, atSeq, title })
  await startCursors(tx, { threadId, origin, atSeq, isBehind })
  return { threadId, agentName: origin.agentName, atSeq, isNew: true, states }
}

export interface ForkMoment extends Columns<'threadOrigins', 'parentId' | 'forkedAtMs'> {
  /** The last shared message. */
  readonly atSeq: number
  /** The thread that was forked; null if it was erased. */
  readonly parentName: string | null
}

/** The moment at which a thread was forked; null for a thread that is no fork. */
export async function loadForkMoment(tx: Tx, threadId: string): Promise<ForkMoment | null> {
  const [moment] = await tx<ForkMoment[]>`
    select parent_id, forked_at as forked_at_ms, to_seq as at_seq, (
      select name from heddle.threads as thread where thread.id = parent_id and ${threadStands(tx)}) as parent_name
    from heddle.thread_origins where thread_id = ${threadId} order by place desc limit 1`
  return moment ?? null
}

function refuseMoment({ name, headSeq, baseSeq, iterationCount }: ThreadRow, atSeq: number): void {
  if (iterationCount > 0) {
    throw new ConflictError(`thread "${name}" has iterations, and a run cannot be forked`, {
      field: 'thread',
      received: name,
      hint: 'Fork threads of messages. To begin a run from the same point, append its iterations to a new thread.',
    })
  }
  if (headSeq === baseSeq) {
    throw new ConflictError(`thread "${name}" has no messages`, {
      field: 'thread',
      received: name,
      hint: 'Append to a new thread instead.',
    })
  }
  if (atSeq <= baseSeq || atSeq > headSeq) {
    throw validationError('at', `must be the number of a message, from ${baseSeq + 1} to ${headSeq}`, String(atSeq))
  }
}

/**
 * The rows of the thread and its cursor.
 *
 * @returns false if the name is, or was, one of a thread: see `lineage.ts`
 */
async function create(
  tx: Tx,
  { projectId, name, origin: originName }: NewFork,
  { threadId, origin }: { readonly threadId: string; readonly origin: ThreadRow },
): Promise<boolean> {
  const { agentId, agentName, threadId: originId } = origin
  await ensureThreads(tx, projectId, [{ threadId, thread: name, agentId, agent: agentName }])
  const [made] = await tx<{ isMade: boolean; isErased: boolean; isOriginErased: boolean }[]>`
    select
      thread.xmin::text::bigint = pg_current_xact_id()::text::bigint % 4294967296 as is_made,
      exists (
        select from heddle.tombstones
        where tombstones.target_id in (thread.id, thread.agent_id, thread.project_id) or freed_id = thread.id) as is_erased,
      exists (select from heddle.tombstones where target_id = ${originId}) as is_origin_erased
    from heddle.threads as thread where thread.id = ${threadId}`
  if (made?.isOriginErased === true) throw notFound('thread', originName, 'it was erased')
  return made?.isMade === true && !made.isErased
}

function nameTaken(name: string): ConflictError {
  return new ConflictError(`there is, or was, a thread "${name}"`, {
    field: 'name',
    received: name,
    hint: 'Give the fork a name that no thread had, or omit it.',
  })
}

/** Everything that contexts of the origin depend on besides its messages, as of now. */
async function addContents(
  tx: Tx,
  {
    threadId,
    origin,
    atSeq,
    title,
  }: {
    readonly threadId: string
    readonly origin: ThreadRow
    readonly atSeq: number
    readonly title?: string | undefined
  },
): Promise<{ readonly states: number; readonly isBehind: boolean }> {
  const { threadId: originId } = origin
  const runs = runsUpTo(origin, atSeq)
  const settings: PartialSettings = origin.settings
  await Promise.all([
    tx`
      insert into heddle.thread_origins (thread_id, place, origin_id, after_seq, to_seq, parent_id)
      select ${threadId}, place, origin_id, after_seq, to_seq, ${originId}
      from json_to_recordset(${JSON.stringify(
        runs.map((run, place) => ({
          place,
          origin_id: run.originId,
          after_seq: run.afterSeq,
          to_seq: run.toSeq,
        })),
      )}::text::json) as run (place integer, origin_id uuid, after_seq bigint, to_seq bigint)`,
    tx`
      insert into heddle.thread_versions (thread_id, version, title, goal, settings)
      values (${threadId}, 1, ${title ?? origin.title}, ${origin.goal}, ${JSON.stringify(settings)}::text::json)`,
    tx`update heddle.threads set version = 1 where id = ${threadId}`,
    // Those of the origin, in place of those with which a new thread begins.
    tx`delete from heddle.thread_items where thread_id = ${threadId}`,
    tx`
      insert into heddle.thread_items (thread_id, item_id, version, include_mode, removed)
      select ${threadId}, item_id, 1, include_mode, removed
      from (
        select distinct on (item_id) item_id, include_mode, removed from heddle.thread_items
        where thread_id = ${originId}
        order by item_id, version desc) as latest`,
    tx`
      insert into heddle.thread_clears (thread_id, epoch, head_seq)
      select ${threadId}, epoch, least(head_seq, ${atSeq}) from heddle.thread_clears where thread_id = ${originId}
      on conflict do nothing`,
    tx`
      insert into heddle.kept_lanes (thread_id, lane, settings, asked_at)
      select ${threadId}, lane, settings, asked_at from heddle.kept_lanes where thread_id = ${originId}`,
    copyBlocks(tx, { originId, threadId }),
  ])
  return await forkDecisions(tx, { threadId, origin, atSeq })
}

function runsUpTo({ threadId, name, sharedRuns, sharedSeq, baseSeq }: ThreadRow, atSeq: number): readonly SharedRun[] {
  const inherited = sharedRuns.flatMap((run) =>
    run.afterSeq < atSeq ? [{ ...run, toSeq: Math.min(run.toSeq, atSeq) }] : [],
  )
  const ownAfter = Math.max(sharedSeq, baseSeq)
  const runs = atSeq > ownAfter ? [...inherited, { originId: threadId, afterSeq: ownAfter, toSeq: atSeq }] : inherited
  if (runs.length <= SHARED_RUNS_MAX) return runs
  throw new ConflictError(`thread "${name}" is a fork of ${sharedRuns.length} forks, one of the other`, {
    field: 'thread',
    received: name,
    hint: 'Export the thread and import it under another name, which makes a thread of its own; then fork that one.',
  })
}

interface Start {
  readonly threadId: string
  readonly origin: ThreadRow
  readonly atSeq: number
  /** Whether a compaction of the origin was not taken over: then the stages decide again. */
  readonly isBehind: boolean
}

async function startCursors(tx: Tx, { threadId, origin, atSeq, isBehind }: Start): Promise<void> {
  const { threadId: originId, baseSeq, erasedCount } = origin
  const seqOf = (seq: number) => (isBehind ? Math.max(baseSeq, Math.min(seq, atSeq - 1)) : Math.min(seq, atSeq))
  const [tokens, [last]] = await Promise.all([
    tokensUpTo(tx, origin, atSeq),
    tx<{ latestAtMs: number; restored: number }[]>`
      select coalesce(message.latest_at, message.ordered_at) as latest_at_ms, (
        select count(*)::integer from ${messagesOf(tx, originId)} as mark
        where mark.restores_seq is not null and mark.seq <= ${atSeq}) as restored
      from ${messagesOf(tx, originId)} as message where message.seq = ${atSeq}`,
  ])
  await tx`
    update heddle.stage_cursors
    set
      head_seq = ${atSeq}, base_seq = ${baseSeq}, shared_seq = ${atSeq}, restored_count = ${last?.restored ?? 0},
      erased_count = ${erasedCount}, prune_seq = ${seqOf(origin.pruneSeq)}, summarize_seq = ${seqOf(origin.summarizeSeq)},
      -- Words and vectors of shared messages are indexed where these are stored.
      embed_seq = ${atSeq}, tokens_estimate = ${tokens}, last_message_at = ${last?.latestAtMs ?? null}::timestamptz
    where thread_id = ${threadId}`
}

/** Exactly, by the shorter side of the moment: no more than half of the thread is read, and nothing at its head. */
async function tokensUpTo(tx: Tx, origin: ThreadRow, atSeq: number): Promise<number> {
  const { threadId, baseSeq, headSeq, tokensEstimate } = origin
  if (atSeq === headSeq) return tokensEstimate
  const isLate = atSeq - baseSeq > headSeq - atSeq
  const [sum] = await tx<{ tokens: number }[]>`
    select coalesce(sum(tokens_estimate), 0)::bigint as tokens from ${messagesOf(tx, threadId)} as message
    where message.restores_seq is null and ${isLate ? tx`message.seq > ${atSeq}` : tx`message.seq <= ${atSeq}`}`
  const tokens = sum?.tokens ?? 0
  return isLate ? Math.max(0, tokensEstimate - tokens) : tokens
}
