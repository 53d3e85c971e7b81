import { limits, mergeSettings, nameSchema, notFound, parse, type StoredPart } from '@heddle/contracts'
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
import { z } from 'zod'
import { noCursor, numberAt } from '../setup/cursors.js'
import type { ClientParts, Page } from '../setup/options.js'

const listMessagesSchema = z.strictObject({
  thread: nameSchema,
  /** The sequence number of the last message of the page before. */
  cursor: z.string().optional(),
  /** @deprecated The name that `cursor` had. */
  after: z.string().optional().meta({ deprecated: true }),
  limit: z.int().min(1).max(limits.pageItemsMax).default(100),
  order: z.enum(['asc', 'desc'], { error: 'must be asc or desc' }).default('asc'),
})
export type ListMessagesOptions = z.input<typeof listMessagesSchema>

/** A message as it was appended, and how it stands. Fields that the producer did not give are left out. */
export interface MessageEntry {
  readonly thread: string
  readonly agent: string
  readonly id: string
  /** Place in the order of storing; the cursor after this message. */
  readonly seq: number
  /** The short reference under which the message can be recalled. */
  readonly reference: string
  readonly role: HistoryMessage['role']
  readonly content: string
  /** Images, documents and sounds, without their bytes: `recall` brings those by the reference of the part. */
  readonly parts?: readonly (StoredPart & { readonly reference: string })[]
  readonly thinking?: HistoryMessage['thinking']
  readonly toolCalls?: HistoryMessage['toolCalls']
  readonly toolCallId?: string
  readonly toolName?: string
  readonly isError?: true
  /** The id of the message where it comes from: what a reply is routed by. */
  readonly sourceId?: string
  readonly sentAt?: string
  /** Place in the conversation: `sentAt`, within the bounds that are set to clocks. */
  readonly orderedAt: string
  readonly receivedAt: string
  readonly model?: string
  readonly usage?: Readonly<Record<string, unknown>>
  readonly contextId?: string
  readonly pinned?: true
  readonly keptAside?: string
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly tokens: number
  /** Whether a context that is built now may show it, where it was first or where it was restored. */
  readonly inWindow: boolean
  /** The latest restore that brought it back: from which snapshot, and its place in the conversation since. */
  readonly restored?: { readonly snapshot: string | null; readonly at: string }
}

/**
 * A page of a thread's history in the order of the conversation: everything that was ever appended, whatever clears and
 * rolling windows hide from contexts (docs/windows.md). A page ends early where its messages are large.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`
 */
export async function listMessages(
  { store, projectId, settings, clock }: ClientParts,
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
    ...(sentAtMs !== null && { sentAt: new Date(sentAtMs).toISOString() }),
    orderedAt: new Date(message.orderedAtMs).toISOString(),
    receivedAt: new Date(message.receivedAtMs).toISOString(),
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
  return { restored: { snapshot: snapshotOfMark(restored.metadata), at: new Date(restored.orderedAtMs).toISOString() } }
}
