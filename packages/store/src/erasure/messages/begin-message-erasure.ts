import { randomUUID } from 'node:crypto'
import { ConflictError, limits, PermanentError, RetryableError } from '@heddle/contracts'
import type { Tx } from '../../connection/connection.js'
import { forksSharing } from '../../forks/fork-decisions.js'
import { loadSharedRuns, messagesOf } from '../../forks/lineage.js'
import { sourceHash } from '../../messages/source-hash.js'
import { asArray, asQuotedArray } from '../../sql/arrays.js'
import { holdMarks, type MessageRange, messagesIn } from '../../window/undone.js'
import { blankIterations } from './blank-iterations.js'
import { blankMessages } from './blank-messages.js'
import { failAskedFor } from './erased-contexts.js'
import { dropAskedLetters } from './erased-dead-letters.js'
import { type ErasableRow, withGroups } from './message-groups.js'
import { loadTextHashes } from './message-texts.js'
import { dropDecisions } from './void-decisions.js'

/** The reason by which the row of an erased message is kept aside: see `ineligibleReason` in core. */
export const ERASED = 'erased'

export interface MessageErasure {
  readonly erasureId: string
  readonly threadId: string
  /** One message or a range. The calls and results of their turns are erased with them. */
  readonly range: MessageRange
}

export interface BegunErasure {
  /** Messages that lost their content; 0 if all of the range were erased before. */
  readonly erased: number
  /** Messages of the range, those that were erased before included. */
  readonly found: number
  /** Of what users wrote in messages that lost their content: jobs of contexts may have it, see `asksFor`. */
  readonly textHashes: ReadonlySet<string>
  /** Forks that shared messages which lost their content: their compactions are made again. */
  readonly forkIds: readonly string[]
}

/**
 * Erases the content of messages of a thread that stays, and begins the erasure of all that was derived from it. Their rows
 * stay, without content, so that the order, the numbers and the repeats of the others are as before.
 *
 * From the commit on, contexts and histories show nothing of them, the compactions that saw them are void, and
 * `continueErasure` removes the rest. Results that were computed before are refused: see `erased_count`.
 *
 * @throws PermanentError `VALIDATION_ERROR` for more messages than one erasure may have
 */
export async function beginMessageErasure(tx: Tx, erasure: MessageErasure): Promise<BegunErasure> {
  const { threadId, range } = erasure
  await loadSharedRuns(tx, threadId)
  // Forks first, as in transactions of their stages, which go on to their origins.
  const forkIds = await forksSharing(tx, threadId, null)
  for (const forkId of forkIds) await lockThread(tx, forkId)
  const thread = await lockThread(tx, threadId)
  if (thread === undefined) return { erased: 0, found: 0, textHashes: new Set(), forkIds: [] }
  const seqs = await seqsOf(tx, threadId, range)
  if (seqs.length > limits.erasedMessagesMax) throw tooMany(seqs.length)
  const rows = await withGroups(tx, threadId, seqs)
  if (rows.length > limits.erasedMessagesMax) throw tooMany(rows.length)
  const left = rows.filter(({ keptAside }) => keptAside !== ERASED)
  if (left.length === 0) return { erased: 0, found: rows.length, textHashes: new Set(), forkIds: [] }
  refuseShared(thread, left)
  const sharing = await forksSharing(
    tx,
    threadId,
    left.map(({ seq }) => seq),
  )
  if (sharing.some((forkId) => !forkIds.includes(forkId)))
    throw new RetryableError('INTERNAL', 'the thread was forked during the erasure')
  for (const forkId of sharing) await eraseFromFork(tx, forkId, { originId: threadId, left })
  const textHashes = await eraseDerived(tx, erasure, { agentId: thread.agentId, left })
  await blankIterations(
    tx,
    threadId,
    left.map(({ seq }) => seq),
  )
  const tokens = await blankMessages(tx, threadId, left)
  await tx`
    update heddle.stage_cursors set tokens_estimate = greatest(0, tokens_estimate - ${tokens}) where thread_id = ${threadId}`
  return { erased: left.length, found: rows.length, textHashes, forkIds: sharing }
}

/** In the order of the prune stage: marks, thread, cursor. */
async function lockThread(
  tx: Tx,
  threadId: string,
): Promise<{ readonly agentId: string; readonly name: string; readonly sharedSeq: number } | undefined> {
  await holdMarks(tx, threadId, 'change')
  const [thread] = await tx<{ agentId: string; name: string }[]>`
    select agent_id, name from heddle.threads where id = ${threadId} for update`
  const [cursor] = await tx<{ sharedSeq: number }[]>`
    select shared_seq from heddle.stage_cursors where thread_id = ${threadId} for update`
  return thread && { ...thread, sharedSeq: cursor?.sharedSeq ?? 0 }
}

/** The messages that a fork shares are erased in the thread that has them, which erases them in all of its forks. */
function refuseShared(
  { name, sharedSeq }: { readonly name: string; readonly sharedSeq: number },
  rows: readonly ErasableRow[],
): void {
  const shared = rows.find(({ seq }) => seq <= sharedSeq)
  if (shared === undefined) return
  throw new ConflictError(
    `message ${shared.seq} of thread "${name}" is shared with the thread that it was forked from`,
    {
      field: 'messageId',
      received: shared.id,
      hint: 'Erase it in that thread (`heddle threads show` names it): it is erased in all forks with it. Or erase the fork.',
    },
  )
}

/** Everything that a fork derived from messages which are erased in their thread. It gets an erasure of its own, with the same steps. */
async function eraseFromFork(
  tx: Tx,
  forkId: string,
  { originId, left: rows }: { readonly originId: string; readonly left: readonly ErasableRow[] },
): Promise<void> {
  const thread = await lockThread(tx, forkId)
  const [run] = await tx<{ toSeq: number }[]>`
    select max(to_seq) as to_seq from heddle.thread_origins where thread_id = ${forkId} and origin_id = ${originId}`
  const left = rows.filter(({ seq }) => seq <= (run?.toSeq ?? 0))
  if (thread === undefined || left.length === 0) return
  const [sum] = await tx<{ tokens: number }[]>`
    select coalesce(sum(tokens_estimate), 0)::bigint as tokens from ${messagesOf(tx, forkId)} as message
    where message.seq = any(${asArray(left.map(({ seq }) => seq))}::bigint[])`
  await eraseDerived(tx, { erasureId: randomUUID(), threadId: forkId }, { agentId: thread.agentId, left })
  await tx`
    update heddle.stage_cursors set tokens_estimate = greatest(0, tokens_estimate - ${sum?.tokens ?? 0})
    where thread_id = ${forkId}`
}

/** @returns the hashes of what users wrote in the messages */
async function eraseDerived(
  tx: Tx,
  erasure: Pick<MessageErasure, 'erasureId' | 'threadId'>,
  { agentId, left }: { readonly agentId: string; readonly left: readonly ErasableRow[] },
): Promise<ReadonlySet<string>> {
  const { threadId, erasureId } = erasure
  const textHashes = await loadTextHashes(tx, threadId, left)
  await failAskedFor(tx, threadId, textHashes)
  const letters = await dropAskedLetters(tx, threadId, textHashes)
  await dropDecisions(tx, threadId, left)
  await noteErased(tx, erasure, left)
  await Promise.all([
    tx`
      insert into heddle.tombstones (target_id, kind, thread_id, agent_id, created_at, removed)
      values (
        ${erasureId}, 'messages', ${threadId}, ${agentId}, clock_timestamp(),
        ${JSON.stringify({ messages: left.length, ...(letters > 0 && { dead_letters: letters }) })}::text::json)`,
    tx`
      update heddle.stage_cursors
      set
        erased_count = erased_count + ${left.length},
        prune_usage = null, prune_seq = least(prune_seq, greatest(head_seq - 1, base_seq)),
        summarize_seq = least(summarize_seq, greatest(head_seq - 1, base_seq))
      where thread_id = ${threadId}`,
    tx`update heddle.vector_threads set erased_count = erased_count + ${left.length} where thread_id = ${threadId}`,
    // Summaries in it may quote them; the proxy, which may have it in memory, finds it gone and begins anew.
    tx`delete from heddle.proxied_conversations where thread_id = ${threadId}`,
    tx`update heddle.kept_lanes set usage = null where thread_id = ${threadId}`,
  ])
  return textHashes
}

/** A mark that a restore left leads to its message. */
async function seqsOf(tx: Tx, threadId: string, range: MessageRange): Promise<number[]> {
  const rows = await tx<{ seq: number }[]>`
    select distinct coalesce(named.restores_seq, named.seq) as seq
    from ${messagesIn(tx, threadId, range)} as named
    limit ${limits.erasedMessagesMax + 1}`
  return rows.map(({ seq }) => seq)
}

/** Ids stay known by the rows; what the messages were called at their sources is kept as hashes. */
async function noteErased(
  tx: Tx,
  { threadId, erasureId }: Pick<MessageErasure, 'erasureId' | 'threadId'>,
  rows: readonly ErasableRow[],
): Promise<void> {
  const sources = await tx<{ seq: number; sourceId: string | null }[]>`
    select seq, source_id from ${messagesOf(tx, threadId)} as message
    where seq = any(${asArray(rows.map(({ seq }) => seq))}::bigint[])`
  const hashes = new Map(sources.map(({ seq, sourceId }) => [seq, sourceId === null ? null : sourceHash(sourceId)]))
  await tx`
    insert into heddle.message_erasures (thread_id, message_id, seq, erasure_id, source_hash)
    select ${threadId}, id, seq, ${erasureId}, decode(source, 'hex')
    from unnest(
      ${asArray(rows.map(({ id }) => id))}::uuid[], ${asArray(rows.map(({ seq }) => seq))}::bigint[],
      ${asQuotedArray(rows.map(({ seq }) => hashes.get(seq)))}::text[]) as erased (id, seq, source)
    on conflict do nothing`
}

/** The erasures of messages of a thread, and of those in its forks, that are not finished, oldest first. */
export async function openMessageErasures(tx: Tx, { threadId }: { threadId: string }): Promise<string[]> {
  const rows = await tx<{ targetId: string }[]>`
    select target_id from heddle.tombstones
    where kind = 'messages' and finished_at is null
      and (thread_id = ${threadId} or thread_id in (
        select run.thread_id from heddle.thread_origins as run where run.origin_id = ${threadId}))
    order by created_at`
  return rows.map(({ targetId }) => targetId)
}

/** The messages of an erasure. @returns null if their thread was erased meanwhile */
export async function loadErasedMessages(
  tx: Tx,
  { erasureId }: { erasureId: string },
): Promise<{ readonly threadId: string; readonly ids: readonly string[] } | null> {
  const rows = await tx<{ threadId: string; messageId: string }[]>`
    select thread_id, message_id from heddle.message_erasures where erasure_id = ${erasureId}`
  const [first] = rows
  return first === undefined ? null : { threadId: first.threadId, ids: rows.map(({ messageId }) => messageId) }
}

function tooMany(count: number): PermanentError {
  return new PermanentError('VALIDATION_ERROR', `one erasure may have ${limits.erasedMessagesMax} messages`, {
    field: 'toSeq',
    received: `${count} or more messages`,
    hint: 'Erase smaller ranges one after another, or the whole thread.',
  })
}
