import type { Tx } from '../connection/connection.js'
import { loadSharedRuns } from '../forks/lineage.js'
import { threadStands } from '../messages/tombstones.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { byKey } from '../sql/index-order.js'
import { givenPlaces, type HitPlace, isOfPerson, placesJson, speakerIn } from './search-hits.js'

/** A message that a context may recall. */
export interface MemoryRow extends Columns<'messages', 'code' | 'role' | 'orderedAtMs'> {
  /** The index in the given places. */
  readonly place: number
  readonly threadId: string
  readonly threadName: string
  readonly threadCode: string
  readonly messageId: string
  /** Whether a person said it: a user, or a named speaker in any role. */
  readonly isOfPerson: boolean
  /** The name of the speaker, if the metadata have one. */
  readonly speaker: string | null
  /** Cut to `charactersMax` characters. */
  readonly content: string
}

export interface MemoryConditions {
  readonly places: readonly HitPlace[]
  /** The thread of the context, and its head in the context: later messages are not recalled. */
  readonly own: { readonly threadId: string; readonly headSeq: number }
  /** The threads that may be recalled; null for all. */
  readonly threadIds: readonly string[] | null
  /** Milliseconds since 1970: earlier messages are not recalled; null for no limit. */
  readonly sinceMs: number | null
  readonly charactersMax: number
}

/**
 * The messages at some places, in their order, that a context may recall: of a user, an assistant or a tool, with a text,
 * and after the agent's last clear, with which the user asked for a new start. The rolling window does not apply.
 */
export async function loadMemoryRows(tx: Tx, conditions: MemoryConditions): Promise<MemoryRow[]> {
  const { places, own, threadIds, sinceMs, charactersMax } = conditions
  const given = placesJson(await asShared(tx, places, [own.threadId, ...(threadIds ?? [])]))
  const rows = await tx<(MemoryRow & Columns<'messages', 'contentEscaped'>)[]>`
    select
      given.place, thread.id as thread_id, thread.name as thread_name, thread.code as thread_code,
      message.id as message_id, message.code, message.role, message.ordered_at as ordered_at_ms,
      message.content_escaped, ${isOfPerson(tx)} as is_of_person, ${speakerIn(tx)} as speaker,
      case when message.content_escaped then message.content else left(message.content, ${charactersMax}) end
        as content
    from ${givenPlaces(tx, given)}
    cross join lateral (
      select
        thread.id, thread.name, thread.code, agent.last_cleared_at, coalesce(cleared.head_seq, 0) as cleared_seq
      from heddle.threads as thread
      join heddle.agents as agent on agent.id = thread.agent_id
      left join heddle.thread_clears as cleared
        on cleared.thread_id = thread.id and cleared.epoch = agent.clear_epoch
      where thread.id = given.thread_id and ${threadStands(tx)}
      offset 0) as thread
    cross join lateral (
      select seq, id, code, role, ordered_at, content, content_escaped, kept_aside, metadata, restores_seq
      from heddle.messages
      where messages.thread_id = given.stored_in and ${byKey(tx, tx`messages.seq`, tx`given.seq`)}) as message
    -- Where it stands since it was restored the last time.
    left join lateral (
      select mark.seq, mark.ordered_at from heddle.messages as mark
      where mark.thread_id in (given.thread_id, given.stored_in) and mark.restores_seq = message.seq
        and (given.thread_id <> ${own.threadId} or mark.seq <= ${own.headSeq})
      order by mark.seq desc
      limit 1) as mark on true
    where message.restores_seq is null and ${threadIds === null ? tx`true` : tx`given.thread_id = any(${asArray(threadIds)}::uuid[])`}
      and (
        (given.seq > thread.cleared_seq
          and (thread.last_cleared_at is null or message.ordered_at > thread.last_cleared_at))
        or (mark.seq > thread.cleared_seq
          and (thread.last_cleared_at is null or mark.ordered_at > thread.last_cleared_at)))
      and (given.thread_id <> ${own.threadId} or given.seq <= ${own.headSeq})
      and ${sinceMs === null ? tx`true` : tx`message.ordered_at >= ${sinceMs}`}
      and (message.kept_aside is null or message.kept_aside = 'iteration')
      and message.role in ('user', 'assistant', 'tool_use', 'tool_result')
    order by given.place`
  return rows
    .map(({ contentEscaped, ...row }) => ({
      ...row,
      content: contentEscaped ? (JSON.parse(row.content) as string).slice(0, charactersMax) : row.content,
    }))
    .filter(({ content }) => content.trim() !== '')
}

/** Messages that some of the threads share with others are taken for theirs. */
async function asShared(tx: Tx, places: readonly HitPlace[], threadIds: readonly string[]): Promise<HitPlace[]> {
  const lineages = await Promise.all(
    threadIds.map(async (threadId) => ({ threadId, runs: await loadSharedRuns(tx, threadId) })),
  )
  const forks = lineages.filter(({ runs }) => runs.length > 0)
  return places.map((place) => {
    const { threadId: storedIn, seq } = place
    if (threadIds.includes(storedIn)) return place
    const fork = forks.find(({ runs }) =>
      runs.some(({ originId, afterSeq, toSeq }) => originId === storedIn && seq > afterSeq && seq <= toSeq),
    )
    return fork === undefined ? place : { threadId: fork.threadId, seq, storedIn }
  })
}
