import { limits, PermanentError } from '@heddle/contracts'
import type { Message } from '@heddle/core'
import { voidStates } from '../compaction/publish-states.js'
import type { Tx } from '../connection/connection.js'
import { messageAt, messageOf, messagesOf } from '../forks/lineage.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { byId, givenIds } from '../sql/by-id.js'
import { byKey } from '../sql/index-order.js'

/**
 * Undoing stores a mark for a message. It works like a pin that was set late, and is ignored if the budget is too small.
 * Compactions are a function of the messages, their marks and the settings; so those that were decided without the mark
 * become void from the first one that concerns the message, and the prune stage creates them again.
 */

/** One message of a thread, a range of sequence numbers, or all messages. */
export type MessageRange =
  | { readonly messageId: string }
  | { readonly fromSeq: number; readonly toSeq: number }
  | { readonly all: true }

export interface UndoneChange {
  /** Messages whose mark was set or removed. */
  readonly messages: number
  /** Compactions that became void and are created again. */
  readonly states: number
}

/**
 * A lock between compactions and changes of marks: a compaction that was decided without a mark is either stored already, so
 * that it can be voided, or is decided after the change. Held until the transaction ends; compactions share it.
 */
export async function holdMarks(tx: Tx, threadId: string, mode: 'read' | 'change'): Promise<void> {
  if (mode === 'read') await tx`select pg_advisory_xact_lock_shared(hashtextextended(${threadId}, 0))`
  else await tx`select pg_advisory_xact_lock(hashtextextended(${threadId}, 0))`
}

/** Ids of the messages of a thread whose pruning was undone. */
export async function loadUndone(tx: Tx, threadId: string): Promise<Set<string>> {
  const rows = await tx<{ messageId: string }[]>`
    select message_id from heddle.undone_messages where thread_id = ${threadId} and redone_at is null`
  return new Set(rows.map(({ messageId }) => messageId))
}

/** The same messages, with a mark on those whose pruning was undone. */
export function markUndone(messages: readonly Message[], undone: ReadonlySet<string>): readonly Message[] {
  if (undone.size === 0) return messages
  return messages.map((message) => (undone.has(message.id) ? { ...message, undone: true } : message))
}

interface Concerned extends Columns<'contextStates', 'lane' | 'generation'> {
  readonly messageId: string
}

/**
 * Undoes what the compactions since the last clear did to some messages: from now on none of them is condensed, removed or
 * covered. Messages that no compaction has changed stay unmarked.
 *
 * @throws PermanentError `VALIDATION_ERROR` if the thread would have more marks than are allowed
 */
export async function undoCompactions(
  tx: Tx,
  { threadId, clearEpoch, range }: { threadId: string; clearEpoch: number; range: MessageRange },
): Promise<UndoneChange> {
  await holdMarks(tx, threadId, 'change')
  const concerned = await tx<Concerned[]>`
    select lane, min(generation)::integer as generation, message_id
    from (
      select state.lane, state.generation, pruning.message_id
      from heddle.prunings as pruning
      join heddle.context_states as state on state.id = pruning.state_id
      where pruning.thread_id = ${threadId} and state.clear_epoch = ${clearEpoch} and state.status <> 'void'
        and ${isIn(tx, tx`pruning.message_id`, { threadId, range })}
      union all
      select state.lane, state.generation, message.id
      from heddle.context_states as state
      join ${messagesIn(tx, threadId, range)} as message
        on message.seq <= state.head_seq and message.id <> all (state.top_ids)
          and (message.ordered_at, message.ordinal, message.id)
            between (state.covered_from_at, state.covered_from_ordinal, state.covered_from_id)
            and (state.covered_to_at, state.covered_to_ordinal, state.covered_to_id)
      where state.thread_id = ${threadId} and state.clear_epoch = ${clearEpoch} and state.status <> 'void'
        and state.covered_to_at is not null
    ) as touched
    group by lane, message_id`
  const messageIds = new Set(concerned.map(({ messageId }) => messageId))
  if (messageIds.size === 0) return { messages: 0, states: 0 }
  await tx`
    insert into heddle.undone_messages (thread_id, message_id)
    select ${threadId}, id from unnest(${asArray(messageIds)}::uuid[]) as id
    where not exists (
      select from heddle.undone_messages as undone
      where undone.thread_id = ${threadId} and undone.message_id = id and undone.redone_at is null)
    on conflict (thread_id, message_id, undone_at) do update set redone_at = null`
  await refuseTooMany(tx, threadId)
  await tx`
    update heddle.prunings set undone_at = now()
    where thread_id = ${threadId} and message_id = any(${asArray(messageIds)}::uuid[]) and undone_at is null`
  return { messages: messageIds.size, states: await voidFrom(tx, { threadId, clearEpoch }, concerned) }
}

/** Removes marks, so that compactions may change the messages again; those that were decided with the marks are repeated. */
export async function redoCompactions(
  tx: Tx,
  { threadId, clearEpoch, range }: { threadId: string; clearEpoch: number; range: MessageRange },
): Promise<UndoneChange> {
  await holdMarks(tx, threadId, 'change')
  const released = await tx<{ messageId: string }[]>`
    update heddle.undone_messages as undone set redone_at = now()
    where undone.thread_id = ${threadId} and undone.redone_at is null
      and ${isIn(tx, tx`undone.message_id`, { threadId, range })}
    returning undone.message_id`
  if (released.length === 0) return { messages: 0, states: 0 }
  const ids = released.map(({ messageId }) => messageId)
  const concerned = await tx<Concerned[]>`
    select state.lane, min(state.generation)::integer as generation, message.id as message_id
    from ${givenIds(tx, ids)}
    cross join lateral (
      select ordered_at, ordinal, id from ${messageOf(tx, threadId)} as messages
      where ${byId(tx, tx`messages`)}) as message
    join heddle.context_states as state on state.thread_id = ${threadId}
      and (state.point_at, state.point_ordinal, state.point_id) >= (message.ordered_at, message.ordinal, message.id)
    where state.clear_epoch = ${clearEpoch} and state.status <> 'void'
    group by state.lane, message.id`
  return { messages: ids.length, states: await voidFrom(tx, { threadId, clearEpoch }, concerned) }
}

/**
 * The messages of a range, as what a query selects from. Each part is found by an index of its own, once for a query, and each
 * message by its key: an `or` over both, or a list of ids, would read the whole thread.
 */
export function messagesIn(tx: Tx, threadId: string, range: MessageRange) {
  if ('all' in range) return messagesOf(tx, threadId)
  const ofThread = tx`select messages.seq from ${messagesOf(tx, threadId)} as messages where true`
  // A message includes the marks by which restores show it again.
  const [named, marking] =
    'messageId' in range
      ? [
          tx`
            select found.seq from ${givenIds(tx, [range.messageId])}
            cross join lateral (${ofThread} and ${byId(tx, tx`messages`)}) as found`,
          tx`restores_seq = (select seq from named)`,
        ]
      : [
          tx`${ofThread} and seq between ${range.fromSeq} and ${range.toSeq}`,
          tx`restores_seq between ${range.fromSeq} and ${range.toSeq}`,
        ]
  return tx`(
    with named as materialized (${named})
    select found.*
    from (select seq from named union all ${ofThread} and ${marking}) as wanted
    cross join lateral (
      select seq, id, ordered_at, ordinal, restores_seq from ${messageAt(tx, threadId, tx`wanted.seq`)} as messages
      where ${byKey(tx, tx`messages.seq`, tx`wanted.seq`)}) as found)`
}

/** Whether a row is about a message of the range. */
function isIn(tx: Tx, messageId: ReturnType<Tx>, { threadId, range }: { threadId: string; range: MessageRange }) {
  if ('all' in range) return tx`true`
  return tx`${messageId} = any(array(select message.id from ${messagesIn(tx, threadId, range)} as message))`
}

async function refuseTooMany(tx: Tx, threadId: string): Promise<void> {
  const { size } = await loadUndone(tx, threadId)
  if (size <= limits.undoneMessagesMax) return
  throw new PermanentError('VALIDATION_ERROR', `a thread may have ${limits.undoneMessagesMax} undone messages`, {
    field: 'messages',
    received: String(size),
    hint: 'Undo single messages or a range, or raise the budget of the agent so that fewer messages are condensed.',
  })
}

/** Voids the states of each lane from the first generation that is concerned, and makes the prune stage run again. */
export async function voidFrom(
  tx: Tx,
  series: { threadId: string; clearEpoch: number },
  concerned: readonly Concerned[],
): Promise<number> {
  const first = new Map<string, number>()
  for (const { lane, generation } of concerned) {
    first.set(lane, Math.min(generation, first.get(lane) ?? generation))
  }
  let states = 0
  for (const [lane, fromGeneration] of first) states += await voidStates(tx, { ...series, lane, fromGeneration })
  await tx`
    update heddle.stage_cursors set prune_seq = least(prune_seq, greatest(head_seq - 1, 0))
    where thread_id = ${series.threadId}`
  return states
}
