import type { Page } from '@heddle/client/interface'
import { type ListMessagesOptions, listMessagesSchema, type MessageEntry } from '@heddle/client/interface'
import { mergeSettings, notFound, parse } from '@heddle/contracts'
import {
  ineligibleReason,
  isInWindow,
  messageReference,
  partReference,
  snapshotOfMark,
  threadIdOf,
  type WindowBounds,
  windowBounds,
} from '@heddle/core'
import { type HistoryMessage, listHistory, loadThread } from '@heddle/store'
import { noCursor, numberAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

/**
 * A page of a thread's history in the order of the conversation: everything that was ever appended, even if clears and
 * rolling windows hide it from contexts (docs/windows.md). A page with large messages has fewer of them.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`
 */
export async function listMessages(
  { store, projectId, settings, clock }: EngineContext,
  options: ListMessagesOptions,
): Promise<Page<MessageEntry>> {
  const { thread: name, limit, order, ...place } = parse(listMessagesSchema, options, 'history')
  const afterSeq = numberAt(place)
  const threadId = threadIdOf(projectId, name)
  const [thread, page] = await store.inProject(projectId, (tx) =>
    Promise.all([loadThread(tx, { threadId }), listHistory(tx, { threadId, afterSeq, limit, order })]),
  )
  if (!thread) throw notFound('thread', name, 'see `heddle threads list`')
  if (!page) throw noCursor(String(afterSeq))
  const { rollingWindow } = mergeSettings(settings, thread.agentSettings, thread.settings)
  const bounds = windowBounds({ rollingWindow, ...thread, nowMs: clock.nowMs() })
  const last = page.messages.at(-1)
  return {
    items: page.messages.map((message) => toEntry(message, { thread: thread.name, agent: thread.agentName }, bounds)),
    nextCursor: page.hasMore && last ? String(last.seq) : null,
  }
}

function toEntry(
  message: HistoryMessage,
  owner: Pick<MessageEntry, 'thread' | 'agent'>,
  bounds: WindowBounds,
): MessageEntry {
  const { toolCallId, toolName, sourceId, sentAtMs, model, usage, contextId, keptAside, metadata } = message
  return {
    ...owner,
    id: message.id,
    seq: message.seq,
    reference: messageReference(message.code),
    role: message.role,
    content: message.content,
    ...(message.parts !== undefined && {
      parts: message.parts.map((part, index) => ({
        ...part,
        reference: partReference(messageReference(message.code), index),
      })),
    }),
    ...(message.thinking.length > 0 && { thinking: message.thinking }),
    ...(message.toolCalls.length > 0 && { toolCalls: message.toolCalls }),
    ...(toolCallId !== null && { toolCallId }),
    ...(toolName !== null && { toolName }),
    ...(message.isError && { isError: true }),
    ...(sourceId !== null && { sourceId }),
    ...(sentAtMs !== null && { sentAt: isoTime(sentAtMs) }),
    orderedAt: isoTime(message.orderedAtMs),
    receivedAt: isoTime(message.receivedAtMs),
    ...(model !== null && { model }),
    ...(usage !== null && { usage }),
    ...(contextId !== null && { contextId }),
    ...(message.pinned && { pinned: true }),
    ...(keptAside !== null && { keptAside }),
    ...(metadata !== null && { metadata }),
    tokens: message.tokens,
    inWindow: isShown(message, bounds) && ineligibleReason(message) === null,
    ...restorationOf(message),
  }
}

function isShown(message: HistoryMessage, bounds: WindowBounds): boolean {
  const { restored } = message
  return isInWindow(message, bounds) || (restored !== undefined && isInWindow({ ...message, ...restored }, bounds))
}

function restorationOf({ restored }: HistoryMessage): Pick<MessageEntry, 'restored'> {
  if (restored === undefined) return {}
  return { restored: { snapshot: snapshotOfMark(restored.metadata), at: isoTime(restored.orderedAtMs) } }
}
