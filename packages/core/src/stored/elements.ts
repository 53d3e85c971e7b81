import type { ContextResult } from '@heddle/contracts'

/** A context without its lists: each is replaced by its length, so that the fields keep their order. */
export function headOf({ id: _, ...result }: ContextResult): object {
  const { messages, tools, items, receipt } = result
  const lengths = { messages: messages.length, tools: tools.length, items: items.length }
  return { ...result, ...lengths, receipt: { ...receipt, entries: receipt.entries.length } }
}

/** The elements of a context's lists, each of which is a line when stored. */
export function elementsOf({ messages, receipt, tools, items }: ContextResult): unknown[] {
  return [...messages, ...receipt.entries, ...tools, ...items]
}

/** Puts the lists back into a head. @returns null if the numbers differ */
export function withElements(head: object, elements: readonly unknown[]): object | null {
  // Contexts stored before items were introduced have neither tools nor items.
  const whole = head as { messages: number; tools?: number; items?: number; receipt: { entries: number } }
  let taken = 0
  const take = (count: number) => {
    taken += count
    return elements.slice(taken - count, taken)
  }
  const messages = take(whole.messages)
  const entries = take(whole.receipt.entries)
  const result = {
    ...whole,
    messages,
    ...(whole.tools !== undefined && { tools: take(whole.tools) }),
    ...(whole.items !== undefined && { items: take(whole.items) }),
    receipt: { ...whole.receipt, entries },
  }
  return taken === elements.length ? result : null
}
