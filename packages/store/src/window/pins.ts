import { limits, PermanentError } from '@heddle/contracts'
import type { Message } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { messageOf, messagesOf } from '../forks/lineage.js'
import { inEachDatabase } from '../placement/databases.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { byId, givenId, givenIds } from '../sql/by-id.js'
import type { Store } from '../store.js'
import { holdMarks, type MessageRange, messagesIn, type UndoneChange, voidFrom } from './undone.js'

/*
 * A pin is set and taken back as a mark beside the message, which never changes. As with undone messages, compactions that were
 * decided without the mark become void, and the prune stage creates them again.
 */

/** The pins of a thread that were changed after the message was stored, by message id: whether it is pinned now. */
export async function loadPins(tx: Tx, threadId: string): Promise<Map<string, boolean>> {
  const rows = await tx<{ messageId: string; isPinned: boolean }[]>`
    select distinct on (message_id) message_id, is_pinned
    from heddle.pins where thread_id = ${threadId}
    order by message_id, changed_at desc`
  return new Map(rows.map(({ messageId, isPinned }) => [messageId, isPinned]))
}

/** The same messages, pinned as the changes say. A restored message has the pin of its original. */
export function markPinned(messages: readonly Message[], pins: ReadonlyMap<string, boolean>): readonly Message[] {
  if (pins.size === 0) return messages
  return messages.map((message) => {
    const pinned = pins.get(message.restores?.id ?? message.id)
    return pinned === undefined || pinned === message.pinned ? message : { ...message, pinned }
  })
}

export interface PinChange {
  readonly threadId: string
  readonly clearEpoch: number
  readonly range: MessageRange
  readonly isPinned: boolean
  /** When housekeeping takes it back, in milliseconds since 1970; null: never. */
  readonly untilMs: number | null
  /** Most tokens of all pins of the thread that were set so. */
  readonly tokensMax: number
}

interface Found extends Columns<'messages', 'id' | 'restoresSeq'> {
  readonly isPinned: boolean
  readonly untilMs: number | null
}

/**
 * Sets or takes back the pins of some messages. Messages that are pinned as wanted are not counted.
 *
 * @throws PermanentError `VALIDATION_ERROR` if the pins of the thread would be too many, or take more than `tokensMax`
 */
export async function changePins(tx: Tx, change: PinChange): Promise<UndoneChange> {
  const { threadId, clearEpoch, range, isPinned, untilMs } = change
  await holdMarks(tx, threadId, 'change')
  const found = await tx<Found[]>`
    select message.id, message.restores_seq, coalesce(latest.is_pinned, message.pinned) as is_pinned,
      latest.until as until_ms
    from (
      select messages.* from ${messagesIn(tx, threadId, range)} as wanted
      join ${messagesOf(tx, threadId)} as messages on messages.seq = wanted.seq
      order by messages.seq
      limit ${limits.pinsPerThreadMax + 1}) as message
    left join lateral (
      select is_pinned, until from heddle.pins
      where pins.thread_id = ${threadId} and pins.message_id = message.id
      order by changed_at desc limit 1) as latest on true`
  if (found.length > limits.pinsPerThreadMax) throw tooMany(found.length)
  const changed = found.filter((message) => message.restoresSeq === null && differs(message, isPinned, untilMs))
  if (changed.length === 0) return { messages: 0, states: 0 }
  const ids = changed.map(({ id }) => id)
  await tx`
    insert into heddle.pins (thread_id, message_id, changed_at, is_pinned, until)
    select ${threadId}, id, clock_timestamp(), ${isPinned}, ${untilMs}::timestamptz
    from unnest(${asArray(ids)}::uuid[]) as id
    on conflict (thread_id, message_id, changed_at) do update
    set is_pinned = excluded.is_pinned, until = excluded.until`
  if (isPinned) await refuseTooLarge(tx, change)
  // A later end changes no compaction.
  const moved = changed.filter((message) => message.isPinned !== isPinned).map(({ id }) => id)
  return { messages: ids.length, states: await voidConcerned(tx, { threadId, clearEpoch, ids: moved }) }
}

function differs(found: Found, isPinned: boolean, untilMs: number | null): boolean {
  return found.isPinned !== isPinned || (isPinned && found.untilMs !== untilMs)
}

/** Voids the compactions at or after a message: each was decided with its former pin. */
async function voidConcerned(
  tx: Tx,
  { threadId, clearEpoch, ids }: { threadId: string; clearEpoch: number; ids: readonly string[] },
): Promise<number> {
  if (ids.length === 0) return 0
  const concerned = await tx<(Columns<'contextStates', 'lane' | 'generation'> & { messageId: string })[]>`
    with named as (
      select messages.* from ${givenIds(tx, ids)}
      cross join lateral (
        select seq, ordered_at, ordinal, id from ${messageOf(tx, threadId)} as messages
        where ${byId(tx, tx`messages`)}) as messages
    ),
    shown as (
      select ordered_at, ordinal, id from named
      union all
      select mark.ordered_at, mark.ordinal, mark.id
      from ${messagesOf(tx, threadId)} as mark
      where mark.restores_seq in (select seq from named)
    )
    select state.lane, min(state.generation)::integer as generation, shown.id as message_id
    from shown
    join heddle.context_states as state on state.thread_id = ${threadId}
      and (state.point_at, state.point_ordinal, state.point_id) >= (shown.ordered_at, shown.ordinal, shown.id)
    where state.clear_epoch = ${clearEpoch} and state.status <> 'void'
    group by state.lane, shown.id`
  return await voidFrom(tx, { threadId, clearEpoch }, concerned)
}

async function refuseTooLarge(tx: Tx, { threadId, tokensMax }: PinChange): Promise<void> {
  const pinned = [...(await loadPins(tx, threadId))].flatMap(([id, isPinned]) => (isPinned ? [id] : []))
  if (pinned.length > limits.pinsPerThreadMax) throw tooMany(pinned.length)
  const [sum] = await tx<{ tokens: number }[]>`
    select coalesce(sum(messages.tokens_estimate), 0)::integer as tokens
    from ${givenIds(tx, pinned)}
    cross join lateral (
      select tokens_estimate from ${messageOf(tx, threadId)} as messages
      where ${byId(tx, tx`messages`)}) as messages`
  const tokens = sum?.tokens ?? 0
  if (tokens <= tokensMax) return
  throw new PermanentError(
    'VALIDATION_ERROR',
    `messageId: the pins of a thread may take ${tokensMax} tokens, half of its contexts`,
    {
      field: 'messageId',
      received: `${tokens} tokens`,
      hint: 'pin shorter messages, or take other pins back; recall returns long contents',
    },
  )
}

function tooMany(count: number): PermanentError {
  return new PermanentError('VALIDATION_ERROR', `messageId: a thread may have ${limits.pinsPerThreadMax} pins`, {
    field: 'messageId',
    received: String(count),
    hint: 'pin single messages, or take other pins back',
  })
}

/** A pin in force that was set on a stored message. */
export interface PinRow extends Columns<'pins', 'messageId' | 'changedAtMs' | 'untilMs'> {
  readonly seq: number
  readonly code: string
  readonly role: string
  /** The beginning of its text. */
  readonly text: string
}

const TEXT_CHARACTERS_MAX = 300

/** The pins of a thread in force, in the order of storing. */
export async function listPins(tx: Tx, threadId: string): Promise<readonly PinRow[]> {
  return await tx<PinRow[]>`
    select pin.message_id, pin.changed_at as changed_at_ms, pin.until as until_ms, message.seq, message.code, message.role,
      case when message.content_escaped then '' else left(message.content, ${TEXT_CHARACTERS_MAX}) end as text
    from (
      select distinct on (message_id) message_id as id, message_id, changed_at, is_pinned, until
      from heddle.pins where thread_id = ${threadId}
      order by message_id, changed_at desc) as pin
    cross join lateral ${givenId(tx, tx`pin.message_id`)}
    cross join lateral (
      select seq, code, role, content, content_escaped from ${messageOf(tx, threadId)} as messages
      where ${byId(tx, tx`messages`)}) as message
    where pin.is_pinned
    order by message.seq`
}

/**
 * Takes back pins whose time has come, as a call would.
 *
 * @returns the threads of these messages, whose prune stage is to be woken
 */
export async function endPins(
  store: Store,
  { beforeMs, limit }: { beforeMs: number; limit: number },
): Promise<{ projectId: string; threadId: string }[]> {
  const found = await inEachDatabase(
    store,
    async (tx) =>
      await tx<{ projectId: string; id: string }[]>`
        select project_id, id from heddle.expired_pins(${limit}::integer, ${beforeMs}::timestamptz)`,
  )
  const ended: { projectId: string; threadId: string }[] = []
  for (const { projectId, id: threadId } of found) {
    const count = await store.inProject(projectId, (tx) => endPinsOf(tx, threadId, beforeMs))
    if (count > 0) ended.push({ projectId, threadId })
  }
  return ended
}

async function endPinsOf(tx: Tx, threadId: string, beforeMs: number): Promise<number> {
  await holdMarks(tx, threadId, 'change')
  const ended = await tx<{ messageId: string }[]>`
    with latest as (
      select distinct on (message_id) message_id, is_pinned, until
      from heddle.pins where thread_id = ${threadId}
      order by message_id, changed_at desc
    ),
    ended as (
      insert into heddle.pins (thread_id, message_id, changed_at, is_pinned)
      select ${threadId}, message_id, clock_timestamp(), false
      from latest where is_pinned and until <= ${beforeMs}
      on conflict (thread_id, message_id, changed_at) do update set is_pinned = false, until = null
      returning message_id
    ),
    -- A time that has passed is looked at no more.
    passed as (
      update heddle.pins set until = null
      where thread_id = ${threadId} and until <= ${beforeMs}
    )
    select message_id from ended`
  const [agent] = await tx<Columns<'agents', 'clearEpoch'>[]>`
    select agent.clear_epoch from heddle.threads as thread
    join heddle.agents as agent on agent.id = thread.agent_id
    where thread.id = ${threadId}`
  if (agent === undefined) return 0
  const ids = ended.map(({ messageId }) => messageId)
  await voidConcerned(tx, { threadId, clearEpoch: agent.clearEpoch, ids })
  return ids.length
}
