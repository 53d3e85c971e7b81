import type { ReceiptEntry } from '@heddle/contracts'
import type { AgentInputItem } from '@openai/agents-core'
import { callIdOf, isOpaque } from './items.js'

/** A stored message with its items. */
export interface Stored {
  readonly id: string
  readonly role: string
  readonly content: string
  readonly items: readonly AgentInputItem[]
}

/** A message of a context in Heddle's own format. */
export interface Shown {
  readonly role: string
  readonly content: string
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[]
  readonly toolCallId?: string
  readonly toolName?: string
}

interface Pieces {
  /** Messages that the context shows as they were stored. */
  readonly verbatim: readonly Stored[]
  /** All messages that it shows, also in short. */
  readonly known: readonly Stored[]
}

/** Lines of a receipt whose messages are in the context. */
export function shownLines(entries: readonly ReceiptEntry[]): ReceiptEntry[] {
  const hidden = new Set(['covered', 'left-out', 'removed'])
  return entries.filter(({ messageId, count, mode }) => messageId !== undefined && count === 1 && !hidden.has(mode))
}

/**
 * The items of a context: those of messages that it shows verbatim are as they were given, and the others are texts, calls
 * and results in short. Calls that only their own provider understands stay whole with their results, or become text.
 */
export function assembledItems(messages: readonly Shown[], { verbatim, known }: Pieces): AgentInputItem[] {
  const calls = new Map<string, Stored>()
  const results = new Map<string, Stored>()
  for (const stored of known) {
    for (const item of stored.items) {
      const id = callIdOf(item)
      if (id !== undefined) (stored.role === 'tool_result' ? results : calls).set(id, stored)
    }
  }
  const exact = exactMessages(verbatim, calls, results)
  const texts = [...exact].filter(({ items, role }) => role !== 'tool_result' && !items.some(callIdOf))
  const done = new Set<Stored>()
  const items: AgentInputItem[] = []
  const give = (stored: Stored | undefined) => {
    if (stored === undefined || !exact.has(stored)) return false
    if (!done.has(stored)) items.push(...stored.items)
    done.add(stored)
    return true
  }
  for (const message of messages) {
    if (message.toolCallId !== undefined) {
      const result = results.get(message.toolCallId)
      // Without a stored result it is a placeholder; the framework knows which calls are open.
      if (result !== undefined && !give(result)) items.push(shortResult(message, result))
      continue
    }
    const same = texts.find((each) => !done.has(each) && each.role === message.role && each.content === message.content)
    if (message.toolCalls === undefined && give(same)) continue
    const short: AgentInputItem[] = []
    const given = (message.toolCalls ?? []).map((call) => {
      const stored = calls.get(call.id)
      if (give(stored)) return true
      short.push(shortCall(call, stored))
      return false
    })
    // Texts of a reply that is given as it was stored are among its items.
    if (!given.includes(true) && message.content.trim() !== '') items.push(textItem(message))
    items.push(...short)
  }
  return items
}

/** Those whose calls and results can be given as they were stored. */
function exactMessages(
  verbatim: readonly Stored[],
  calls: ReadonlyMap<string, Stored>,
  results: ReadonlyMap<string, Stored>,
): Set<Stored> {
  const exact = new Set(verbatim)
  const needs = (stored: Stored) =>
    stored.items.flatMap((item) => {
      const id = callIdOf(item)
      if (id === undefined || !isOpaque(item)) return []
      return [(stored.role === 'tool_result' ? calls : results).get(id)]
    })
  for (let size = -1; size !== exact.size; ) {
    size = exact.size
    for (const stored of exact) {
      if (needs(stored).some((other) => other !== undefined && !exact.has(other))) exact.delete(stored)
    }
  }
  return exact
}

function textItem({ role, content }: Pick<Shown, 'role' | 'content'>): AgentInputItem {
  if (role !== 'assistant') return { type: 'message', role: 'user', content }
  return { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: content }] }
}

function shortCall(
  { id, name, arguments: given }: NonNullable<Shown['toolCalls']>[number],
  stored: Stored | undefined,
): AgentInputItem {
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  const item = stored?.items.find((each) => callIdOf(each) === id)
  if (item !== undefined && isOpaque(item)) return textItem({ role: 'assistant', content: `[${item.type}] ${text}` })
  return { type: 'function_call', callId: id, name, status: 'completed', arguments: text }
}

function shortResult({ toolCallId = '', content, toolName }: Shown, { items }: Stored): AgentInputItem {
  const [item] = items
  if (item === undefined || isOpaque(item)) {
    return textItem({ role: 'user', content: `[${item?.type ?? 'result'}] ${content}` })
  }
  const name = 'name' in item ? String(item.name) : (toolName ?? 'function')
  return { type: 'function_call_result', callId: toolCallId, name, status: 'completed', output: content }
}
