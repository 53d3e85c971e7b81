import { limits } from '@heddle/contracts'
import { countMessageTokens } from '../compaction/costs.js'
import type { CompactionState, Pruning } from '../compaction/state.js'
import type { Message } from '../conversation/message.js'
import { comparePositions } from '../conversation/order.js'
import { fromAnywhere, referenceIn } from './references.js'
import { newestOf, sharedCallIds, type ThreadShareOfScope, turnsOf } from './turns.js'

/** Several threads as one conversation. */
export interface Woven {
  /** In their order, with sequence numbers and ids of this conversation alone; `origin` tells what they are in their threads. */
  readonly messages: readonly Message[]
  /** What was decided about them in their threads; null where nothing was. */
  readonly state: CompactionState | null
  /** By the name of the thread, messages that are older than the newest {@link limits.multiThreadMessagesMax}. */
  readonly leftOut: ReadonlyMap<string, number>
}

/**
 * Weaves threads into one conversation, in the order in which things happened. A turn stays whole, so that each call stands
 * beside its results, and takes its place by its first message. Every message says which thread it is of, but for results,
 * which stand beside their calls. Reasoning is left out: it is signed for the conversation that it was made in.
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
  /** Number of the thread in the scope, from 0. */
  readonly thread: number
  readonly shared: ReadonlySet<string>
  /** In the common conversation, from 1. */
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
    // What a provider reported was for the thread's own context, not for this one.
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

/** The parts of a message whose content begins so many characters earlier. */
function movedBy(characters: number, { content, parts = [] }: Message): NonNullable<Message['parts']> {
  return parts.map((part) => ({ ...part, offset: (part.offset ?? content.length) + characters }))
}

/** The name of a thread before what was said in it. */
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
  const own = fromAnywhere(pruning.text, thread)
  const text = message.role === 'tool_result' || pruning.action === 'remove' ? own : marked(thread, own)
  const left = { ...merged, content: text, parts: [] }
  const tokens = pruning.action === 'remove' ? 0 : countMessageTokens(left, count).tokens
  return { ...pruning, messageId: merged.id, text, tokens }
}

/** From before the first message, so that a compaction for the request looks at all of them. */
function stateOf(prunings: ReadonlyMap<string, Pruning>): CompactionState {
  const point = { orderedAtMs: Number.NEGATIVE_INFINITY, ordinal: 0, id: '' }
  return { point, headSeq: 0, topIds: [], covered: null, summary: null, summaryTokens: 0, prunings }
}
