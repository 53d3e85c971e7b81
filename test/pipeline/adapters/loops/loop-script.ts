import { countTokens } from '@heddle/core'
import type { ProtocolReply, ProtocolRequest } from '@heddle/test-support/servers/protocol-server'

type Messages = NonNullable<ProtocolRequest['messages']>

/** A model that calls its tool once in each turn. */
export function replyTo({ messages = [], number }: ProtocolRequest): ProtocolReply {
  const last = messages.at(-1)
  if (last?.role === 'tool') return { kind: 'text', text: 'Noted.' }
  const turn = Number(/Turn (\d+)/.exec(JSON.stringify(last?.content))?.[1] ?? 0)
  return { kind: 'call', id: `call_${turn}_${number}`, name: 'look', input: { turn } }
}

/** Calls without a result, and results without a call, in a request of chat completions. */
export function orphansInChat(messages: Messages): string[] {
  const open = new Set<string>()
  const orphans: string[] = []
  for (const message of messages as readonly { tool_calls?: { id: string }[]; tool_call_id?: string }[]) {
    for (const { id } of message.tool_calls ?? []) open.add(id)
    const answered = message.tool_call_id
    if (answered !== undefined && !open.delete(answered)) orphans.push(answered)
  }
  return [...orphans, ...open]
}

/** Prices of a token that is read from a provider's cache, and of one that is new, as parts of the price of an uncached one. */
const CACHE_READ = 0.1
const CACHE_WRITE = 1.25
/** Requests whose instructions begin alike are of one conversation: a memory may have a model of its own beside the agent's. */
const BEGINNING = 40

export interface LoopCost {
  readonly requests: number
  readonly tokens: number
  readonly tokensMax: number
  /** In uncached tokens: what the previous request began with is read from the cache. */
  readonly cost: number
}

export function costOf(requests: readonly ProtocolRequest[]): LoopCost {
  const previous = new Map<string, readonly string[]>()
  const tokensOf = new Map<string, number>()
  const counted = (text: string) => {
    const tokens = tokensOf.get(text) ?? countTokens(text)
    tokensOf.set(text, tokens)
    return tokens
  }
  let [tokens, tokensMax, cost] = [0, 0, 0]
  for (const { messages = [] } of requests) {
    const texts = messages.map((message) => JSON.stringify(message))
    const conversation = (texts[0] ?? '').slice(0, BEGINNING)
    const before = previous.get(conversation) ?? []
    const changed = texts.findIndex((text, index) => text !== before[index])
    const shared = changed < 0 ? texts.length : changed
    const sum = (some: readonly string[]) => some.reduce((total, text) => total + counted(text), 0)
    const [read, written] = [sum(texts.slice(0, shared)), sum(texts.slice(shared))]
    tokens += read + written
    tokensMax = Math.max(tokensMax, read + written)
    cost += read * CACHE_READ + written * CACHE_WRITE
    previous.set(conversation, texts)
  }
  return { requests: requests.length, tokens, tokensMax, cost: Math.round(cost) }
}
