import type { ContextResult } from '@heddle/contracts'
import { LRUCache } from 'lru-cache'

/** Bytes of all contexts: about 20 of 32,000 tokens. */
const BYTES_MAX = 8_000_000
/** Estimates of the memory of a context, of its parts, and of each of its tokens. */
const CONTEXT_BYTES = 4_000
const ELEMENT_BYTES = 200
const TOKEN_BYTES = 5
/** As long as workers base contexts on an earlier one. Erased messages are in memory no longer than this. */
const AGE_MS_MAX = 3_600_000

/**
 * Keeps the last context of each request, so that the next one can be sent as its differences. Callers own what they get,
 * so that the kept contexts are copies.
 */
export class KnownContexts {
  readonly #contexts = new LRUCache<string, ContextResult>({ maxSize: BYTES_MAX, ttl: AGE_MS_MAX })

  /** The last context of a request, by the key of the request. It must not leave this process's client. */
  find(key: string): ContextResult | undefined {
    return this.#contexts.get(key)
  }

  /** @returns a copy for the caller */
  keep(key: string, context: ContextResult): ContextResult {
    const size = bytesOf(context)
    if (size > BYTES_MAX) {
      this.#contexts.delete(key)
      return context
    }
    this.#contexts.set(key, context, { size })
    return copyOf(context)
  }
}

function bytesOf({ messages, receipt, tools, items, tokensUsed }: ContextResult): number {
  const elements = messages.length + receipt.entries.length + tools.length + items.length
  return CONTEXT_BYTES + elements * ELEMENT_BYTES + tokensUsed * TOKEN_BYTES
}

/** A copy of JSON. Texts are shared, because they cannot be changed. */
function copyOf<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(copyOf) as Value
  if (typeof value !== 'object' || value === null) return value
  // A copy with own properties for any field name, so that assigning one has no side effects.
  const copy = { ...value } as Record<string, unknown>
  for (const key in copy) {
    const field = copy[key]
    if (typeof field === 'object' && field !== null) copy[key] = copyOf(field)
  }
  return copy as Value
}
