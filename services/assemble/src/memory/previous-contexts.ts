import type { ContextRequest } from '@heddle/contracts'
import type { RenderedPart } from '@heddle/core'
import type { LinesBase } from '@heddle/store'
import { LRUCache } from 'lru-cache'

/** Bytes of a line or a part besides its text. */
const TEXT_BYTES = 130
const BYTES_PER_CHARACTER = 1.2
/** An older context may be removed soon, so no new one is based on it. */
const AGE_MS_MAX = 3_600_000

export interface Remembered {
  readonly base: LinesBase
  /** Parts in the order in which a provider reads them, with digests in place of texts. */
  readonly parts: readonly RenderedPart[]
}

interface Tail extends Remembered {
  readonly rememberedAtMs: number
}

/** Caches the last contexts that this worker stored, by thread and format, as bases of the next ones. */
export class PreviousContextCache {
  readonly #tails: LRUCache<string, Tail>

  constructor(bytesMax: number) {
    this.#tails = new LRUCache({ maxSize: bytesMax })
  }

  find(threadId: string, request: ContextRequest, nowMs: number): Remembered | null {
    const tail = this.#tails.get(keyOf(threadId, request))
    if (tail === undefined) return null
    if (nowMs - tail.rememberedAtMs <= AGE_MS_MAX) return tail
    this.forget(threadId, request)
    return null
  }

  remember(threadId: string, request: ContextRequest, { base, parts }: Remembered, nowMs: number): void {
    const texts = [...base.lines, ...parts.map(({ text }) => text)]
    const bytes = texts.reduce((sum, { length }) => sum + TEXT_BYTES + length * BYTES_PER_CHARACTER, TEXT_BYTES)
    this.#tails.set(keyOf(threadId, request), { base, parts, rememberedAtMs: nowMs }, { size: Math.ceil(bytes) })
  }

  forget(threadId: string, request: ContextRequest): void {
    this.#tails.delete(keyOf(threadId, request))
  }
}

/** Contexts of other formats, strategies or budgets share few lines, and other counters give other counts. */
function keyOf(threadId: string, { format, strategy, model, budget, counter, scope }: ContextRequest): string {
  return JSON.stringify([threadId, format, strategy, model, budget, counter, scope])
}
