import { limits } from '@heddle/contracts'
import type { CompactionState } from '../compaction/state.js'
import { readConversation } from '../conversation/conversation.js'
import type { Message, Position } from '../conversation/message.js'
import { positionOf } from '../conversation/order.js'
import { summaryMessage } from '../history/summary-message.js'
import { fromAnywhere, referenceIn } from './references.js'

/** One thread's part of a merged conversation. */
export interface ThreadShareOfScope {
  readonly name: string
  /** Messages in its window that its summary does not cover, in any order. */
  readonly messages: readonly Message[]
  /** Its published state, whose summary is placed where the first covered message was; null without one. */
  readonly state: CompactionState | null
  /** The messages of the window that the summary covers, and the short code of the first. */
  readonly covered: { readonly count: number; readonly tokens: number; readonly code: string }
}

/** An inseparable group of messages, with its position among those of other threads. */
export interface Turn {
  readonly at: Position
  readonly thread: number
  readonly messages: readonly Message[]
}

export function turnsOf(share: ThreadShareOfScope, thread: number): Turn[] {
  const { messages, boundaries } = readConversation(share.messages)
  const turns: Turn[] = []
  let turn: Message[] = []
  for (const [at, message] of messages.entries()) {
    turn.push(message)
    const [first] = turn
    if (first === undefined || (!boundaries[at] && at < messages.length - 1)) continue
    turns.push({ at: positionOf(first), thread, messages: turn })
    turn = []
  }
  const summary = summaryTurn(share, thread)
  return summary === null ? turns : [summary, ...turns]
}

/**
 * A thread's summary as a message at its position: a merged conversation has several, and its own summary may cover
 * them again.
 */
function summaryTurn({ name, state, covered }: ThreadShareOfScope, thread: number): Turn | null {
  if (state?.summary == null || state.covered === null || covered.count === 0) return null
  const at = state.covered.from
  const { code, ...standsFor } = covered
  const origin = { thread: name, id: at.id, seq: 0, reference: referenceIn(name, code), standsFor }
  const { content } = summaryMessage(fromAnywhere(state.summary, name), 'openai-chat')
  return { at, thread, messages: [{ ...EMPTY, ...at, code, content, origin }] }
}

const EMPTY: Omit<Message, keyof Position | 'code' | 'content'> = {
  seq: 0,
  role: 'user',
  thinking: [],
  toolCalls: [],
  toolCallId: null,
  toolName: null,
  isError: false,
  model: null,
  usage: null,
  pinned: false,
  keptAside: null,
  contextId: null,
  tokens: 0,
  reasoningTokens: 0,
  tokensExact: false,
}

/** The newest whole turns within the limit on messages. */
export function newestOf(turns: readonly Turn[]): { kept: readonly Turn[]; left: readonly Turn[] } {
  let count = 0
  let start = turns.length
  for (; start > 0; start--) {
    count += turns[start - 1]?.messages.length ?? 0
    if (count > limits.multiThreadMessagesMax && start < turns.length) break
  }
  return { kept: turns.slice(start), left: turns.slice(0, start) }
}

/** Call ids that more than one thread uses: they would pair a call of one thread with a result of another. */
export function sharedCallIds(turns: readonly Turn[]): ReadonlySet<string> {
  const threadOf = new Map<string, number>()
  const shared = new Set<string>()
  for (const { thread, messages } of turns) {
    for (const { toolCalls, toolCallId } of messages) {
      for (const id of [...toolCalls.map((call) => call.id), ...(toolCallId === null ? [] : [toolCallId])]) {
        const other = threadOf.get(id)
        if (other === undefined) threadOf.set(id, thread)
        else if (other !== thread) shared.add(id)
      }
    }
  }
  return shared
}
