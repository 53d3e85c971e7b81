import type { ContextResult } from '@heddle/contracts'

/**
 * The JSON of a context without its id, as `JSON.stringify` writes it. Most of it is messages and entries of the receipt, and a
 * context shares most of those with the one before it in its thread.
 *
 * @param known the JSON of messages and entries that earlier contexts had
 */
export function contextJson(result: Omit<ContextResult, 'id'>, known: WeakMap<object, string>): string {
  const list = (items: readonly object[]) => `[${items.map((item) => sharedJson(item, known)).join(',')}]`
  const { messages, receipt } = result
  return objectJson(result, {
    messages: list(messages),
    receipt: objectJson(receipt, { entries: list(receipt.entries) }),
  })
}

function sharedJson(item: object, known: WeakMap<object, string>): string {
  const before = known.get(item)
  if (before !== undefined) return before
  const text = JSON.stringify(item)
  known.set(item, text)
  return text
}

/** @param written the JSON of some of its fields */
function objectJson(value: object, written: Readonly<Record<string, string>>): string {
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const text = written[name] ?? JSON.stringify(field)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${fields.join(',')}}`
}
