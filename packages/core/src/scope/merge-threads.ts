import { limits } from '@heddle/contracts'
import { countMessageTokens } from '../compaction/costs.js'
import { remainingOf } from '../compaction/remaining.js'
import { type CompactionState, keepsText, type Pruning } from '../compaction/state.js'
import type { Message } from '../conversation/message.js'
import { comparePositions } from '../conversation/order.js'
import { pruningIn, referenceIn } from './references.js'
import { newestOf, sharedCallIds, type ThreadShareOfScope, turnsOf } from './turns.js'

/** Several threads merged into one conversation. */
export interface Woven {
  /**
   * In order, with sequence numbers and ids of this conversation only; `origin` has their identity in their threads.
   */
  readonly messages: readonly Message[]
  /** Prunings from their threads; null without prunings. */
  readonly state: CompactionState | null
  /** By the name of the thread, number of messages older than the newest {@link limits.multiThreadMessagesMax}. */
  readonly leftOut: ReadonlyMap<string, number>
}

/**
 * Merges threads into one conversation, in chronological order. A turn stays whole, so that each call is beside its
 * results, and is ordered by its first message. Every message names its thread, except results, which follow their
 * calls. Reasoning is left out, because it is signed for its original conversation.
 *
 * @param count of the counter that the request names
 */
export function mergeThreads(threads: readonly ThreadShareOfScope[], count: (text: string) => number): Woven {
  const turns = threads
    .flatMap(turnsOf)
    .sort((left, right) => comparePositions(left.at, right.at) || left.thread - right.thread)
  const { kept, left } = newestOf(turns)
  const shared = sharedCallIds(kept)
  const messages: Message[] = []
  const prunings = new Map<string, Pruning>()
  let latestMs = Number.NEGATIVE_INFINITY
  for (const { thread, messages: own } of kept) {
    const share = threads[thread]
    if (share === undefined) continue
    for (const message of own) {
      latestMs = Math.max(latestMs, message.orderedAtMs)
      const merged = inCommon(message, { share, thread, shared, place: messages.length + 1, latestMs }, count)
      messages.push(merged)
      const pruning = share.state?.prunings.get(message.id)
      if (pruning !== undefined) prunings.set(merged.id, ofThread(pruning, message, merged, share.name, count))
    }
  }
  const leftOut = new Map<string, number>()
  for (const { thread, messages: own } of left) {
    const name = threads[thread]?.name ?? ''
    const missing = own.reduce((sum, { origin }) => sum + (origin?.standsFor?.count ?? 1), 0)
    leftOut.set(name, (leftOut.get(name) ?? 0) + missing)
  }
  return { messages, state: prunings.size === 0 ? null : stateOf(prunings), leftOut }
}

interface Place {
  readonly share: ThreadShareOfScope
  /** Index of the thread in the scope, from 0. */
  readonly thread: number
  readonly shared: ReadonlySet<string>
  /** Position in the merged conversation, from 1. */
  readonly place: number
  readonly latestMs: number
}

function inCommon(
  message: Message,
  { share: { name }, thread, shared, place, latestMs }: Place,
  count: (text: string) => number,
): Message {
  const callId = (id: string) => (shared.has(id) ? `${id}_${thread}` : id)
  const content = message.role === 'tool_result' ? message.content : marked(name, message.content)
  const merged = {
    ...message,
    id: `${thread}/${message.id}${message.origin?.standsFor ? '/summary' : ''}`,
    code: `${message.code}_${thread}`,
    seq: place,
    orderedAtMs: latestMs,
    ordinal: place,
    content,
    ...(message.parts !== undefined && { parts: movedBy(content.length - message.content.length, message) }),
    thinking: [],
    toolCalls: message.toolCalls.map((call) => ({ ...call, id: callId(call.id) })),
    toolCallId: message.toolCallId === null ? null : callId(message.toolCallId),
    // A provider's report is about the thread's own context, not about this one.
    usage: null,
    contextId: null,
    origin: message.origin ?? {
      thread: name,
      id: message.id,
      seq: message.seq,
      reference: referenceIn(name, message.code),
      standsFor: null,
    },
  }
  return { ...merged, ...countMessageTokens(merged, count), tokensExact: true }
}

/** The parts of a message after `characters` characters were inserted before its content. */
function movedBy(characters: number, { content, parts = [] }: Message): NonNullable<Message['parts']> {
  return parts.map((part) => ({ ...part, offset: (part.offset ?? content.length) + characters }))
}

/** Prefixes a text with the name of its thread. */
function marked(thread: string, content: string): string {
  const mark = `[thread ${JSON.stringify(thread)}]`
  return content === '' ? mark : `${mark}\n${content}`
}

function ofThread(
  pruning: Pruning,
  message: Message,
  merged: Message,
  thread: string,
  count: (text: string) => number,
): Pruning {
  const own = pruningIn(pruning, thread)
  const isWhole = message.role === 'tool_result' || pruning.action === 'remove' || keepsText(pruning)
  const moved = { ...own, messageId: merged.id, text: isWhole ? own.text : marked(thread, own.text) }
  const tokens = pruning.action === 'remove' ? 0 : countMessageTokens(remainingOf(merged, moved), count).tokens
  return { ...moved, tokens }
}

/** The point is before the first message, so that a compaction for the request considers all of them. */
function stateOf(prunings: ReadonlyMap<string, Pruning>): CompactionState {
  const point = { orderedAtMs: Number.NEGATIVE_INFINITY, ordinal: 0, id: '' }
  return { point, headSeq: 0, topIds: [], covered: null, summary: null, summaryTokens: 0, prunings }
}
