import type { MessageEntry } from '@heddle/client/interface'
import {
  ineligibleReason,
  isInWindow,
  messageReference,
  partReference,
  snapshotOfMark,
  type WindowBounds,
} from '@heddle/core'
import type { HistoryMessage } from '@heddle/store'
import { isoTime } from '../setup/iso-time.js'

/** A message as histories show it. */
export function toEntry(
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
    ...(message.hasRequestContext && { hasRequestContext: true }),
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
