import type { FindMessagesOptions, ListAgentMessagesOptions, MessageEntry, Page } from '@heddle/client/interface'
import { findMessagesSchema, listAgentMessagesSchema } from '@heddle/client/interface'
import { mergeSettings, momentMs, notFound, parse } from '@heddle/contracts'
import { agentIdOf, threadIdOf, windowBounds } from '@heddle/core'
import {
  findAgentPlaces,
  findSourcePlaces,
  loadAgent,
  loadMessagePage,
  loadThread,
  loadThreadWindows,
  type MessagePage,
  type MessagePlace,
  type ThreadPosition,
  type ThreadWindowRow,
  type Tx,
} from '@heddle/store'
import { type CursorList, cursorOf, placeAt } from '../setup/cursors.js'
import type { EngineContext } from '../setup/options.js'
import { toEntry } from './message-entry.js'

/** A cursor's position: time, ordinal, id and thread of the last message of its page. */
export const PLACE = /^(-?\d{1,15}) (\d{1,10}) ([0-9a-f-]{36}) ([0-9a-f-]{36})$/

/**
 * A page of the history of an agent over all of its threads, by time: everything that was ever appended. A page with large
 * messages has fewer of them.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`
 */
export async function listAgentMessages(
  parts: EngineContext,
  options: ListAgentMessagesOptions,
): Promise<Page<MessageEntry>> {
  const { agent: name, limit, order, since, until, ...page } = parse(listAgentMessagesSchema, options, 'history')
  const agentId = agentIdOf(parts.projectId, name)
  const list: CursorList = { kind: 'messages', ownerId: agentId }
  const after = positionAt(placeAt(list, page, PLACE))
  const nowMs = parts.clock.nowMs()
  const [sinceMs, untilMs] = [since, until].map((moment) => (moment === undefined ? null : momentMs(moment, nowMs)))
  return await load(parts, { list, limit }, async (tx) => {
    if ((await loadAgent(tx, { name })) === null) throw notFound('agent', name, 'see `heddle agents list`')
    const bounds = { sinceMs: sinceMs ?? null, untilMs: untilMs ?? null }
    return await findAgentPlaces(tx, { agentId, after, limit: limit + 1, order, ...bounds })
  })
}

/**
 * The messages of the project with an id at their source, newest first.
 *
 * @throws PermanentError `NOT_FOUND` for an unknown agent or thread, `VALIDATION_ERROR`
 */
export async function findMessages(parts: EngineContext, options: FindMessagesOptions): Promise<Page<MessageEntry>> {
  const { projectId } = parts
  const { sourceId, agent, thread, limit, ...page } = parse(findMessagesSchema, options, 'messages')
  const list: CursorList = { kind: 'messages', ownerId: `${projectId} ${sourceId}` }
  const after = positionAt(placeAt(list, page, PLACE))
  const agentId = agent === undefined ? null : agentIdOf(projectId, agent)
  const threadId = thread === undefined ? null : threadIdOf(projectId, thread)
  return await load(parts, { list, limit }, async (tx) => {
    if (agent !== undefined && (await loadAgent(tx, { name: agent })) === null)
      throw notFound('agent', agent, 'see `heddle agents list`')
    if (thread !== undefined && threadId !== null && (await loadThread(tx, { threadId })) === null)
      throw notFound('thread', thread, 'see `heddle threads list`')
    return await findSourcePlaces(tx, { sourceId, agentId, threadId, after, limit: limit + 1, order: 'desc' })
  })
}

async function load(
  { store, projectId, settings, clock }: EngineContext,
  { list, limit }: { readonly list: CursorList; readonly limit: number },
  find: (tx: Tx) => Promise<MessagePlace[]>,
): Promise<Page<MessageEntry>> {
  const read = async (tx: Tx): Promise<[MessagePage, ReadonlyMap<string, ThreadWindowRow>]> => {
    const page = await loadMessagePage(tx, await find(tx), limit)
    return [page, await loadThreadWindows(tx, new Set(page.messages.map(({ place }) => place.threadId)))]
  }
  const [{ messages, hasMore }, windows] = await store.inProject(projectId, read, { snapshot: true })
  const nowMs = clock.nowMs()
  const items = messages.flatMap(({ place, message }) => {
    const thread = windows.get(place.threadId)
    if (thread === undefined) return []
    const { rollingWindow } = mergeSettings(settings, thread.agentSettings, thread.settings)
    return [
      toEntry(
        message,
        { thread: thread.name, agent: thread.agentName },
        windowBounds({ ...thread, rollingWindow, nowMs }),
      ),
    ]
  })
  const last = messages.at(-1)
  return { items, nextCursor: hasMore && last !== undefined ? cursorOf(list, textOf(last.place)) : null }
}

export function positionAt(place: RegExpExecArray | undefined): ThreadPosition | null {
  if (place === undefined) return null
  const [, time = '', ordinal = '', id = '', threadId = ''] = place
  return { orderedAtMs: Number(time), ordinal: Number(ordinal), id, threadId }
}

export function textOf({ orderedAtMs, ordinal, id, threadId }: ThreadPosition): string {
  return `${orderedAtMs} ${ordinal} ${id} ${threadId}`
}
