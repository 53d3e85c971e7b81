import type { AgentInputItem } from '@openai/agents-core'
import { v5 } from 'uuid'

const NAMESPACE = '5b0a2b5e-53a4-5c0f-8f43-6d1b9a3c7e20'

/** A request of the framework that the session refuses; its history stays as it is. */
export class SessionError extends Error {
  override name = 'SessionError'
}

export type Transaction =
  | { readonly type: 'append_items'; readonly items: readonly AgentInputItem[] }
  | {
      readonly type: 'replace_suffix'
      readonly expectedSuffix: readonly AgentInputItem[]
      readonly replacement: readonly AgentInputItem[]
    }

interface Given {
  readonly operationId: unknown
  readonly transaction: unknown
}

const FIELDS = { append_items: ['items'], replace_suffix: ['expectedSuffix', 'replacement'] } as const

/**
 * A copy of a transaction, with a hash by which a repeat is known.
 *
 * @throws SessionError for one that cannot be stored and compared
 */
export function readTransaction({ operationId, transaction }: Given): {
  readonly operation: { readonly id: string; readonly hash: string }
  readonly transaction: Transaction
} {
  if (typeof operationId !== 'string' || operationId.trim() === '') {
    throw new SessionError('operationId: must be a text that is not empty')
  }
  const given = transaction as Readonly<Record<string, unknown>> | null
  const type = given?.['type']
  if (given === null || typeof given !== 'object' || (type !== 'append_items' && type !== 'replace_suffix')) {
    throw new SessionError(`transaction.type: must be append_items or replace_suffix (received ${String(type)})`)
  }
  for (const field of FIELDS[type]) {
    if (!Array.isArray(given[field])) throw new SessionError(`transaction.${field}: must be a list of items`)
  }
  const text = canonical(given, 'transaction')
  return { operation: { id: operationId, hash: v5(text, NAMESPACE) }, transaction: structuredClone(given) as never }
}

export function sameItems(left: readonly AgentInputItem[], right: readonly AgentInputItem[]): boolean {
  return canonical(left, 'items') === canonical(right, 'items')
}

/** A copy of items for later, of which nothing is shared with the caller. */
export function copyItems<Items>(items: Items): Items {
  canonical(items, 'items')
  return structuredClone(items)
}

/**
 * The same text for values that are structurally equal, whatever the order of their fields.
 *
 * @throws SessionError for values that JSON cannot express; bytes are allowed
 */
function canonical(value: unknown, place: string, outer: readonly object[] = []): string {
  if (value === undefined) return 'null'
  if (value instanceof Uint8Array) return `bytes[${value.join()}]`
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value)
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value)
  if (typeof value !== 'object' || outer.includes(value)) {
    throw new SessionError(`${place}: must be a value that JSON can express (received a ${typeof value})`)
  }
  const inner = [...outer, value]
  if (Array.isArray(value)) return `[${value.map((each, index) => canonical(each, `${place}.${index}`, inner)).join()}]`
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new SessionError(`${place}: must be a plain object`)
  }
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field, `${place}.${name}`, inner)}`)
  return `{${fields.join()}}`
}
