import type { ContextRequest } from '@heddle/contracts'
import type { RenderedPart } from '@heddle/core'
import type { LinesBase } from '@heddle/store'

/** Characters of lines that are remembered: about what the last contexts of two hundred threads hold. */
const CHARACTERS_MAX = 32_000_000
/** A context that old may be removed soon, and nothing may be based on it then. */
const AGE_MS_MAX = 3_600_000

export interface Remembered {
  readonly base: LinesBase
  /** As a provider reads it. */
  readonly parts: readonly RenderedPart[]
}

interface Tail extends Remembered {
  readonly rememberedAtMs: number
  readonly characters: number
}

/** The last contexts that this worker stored, by thread and format, least recently used first out: the next ones are based on them. */
export class ThreadTails {
  readonly #tails = new Map<string, Tail>()
  #characters = 0

  find(threadId: string, request: ContextRequest, nowMs: number): Remembered | null {
    const key = keyOf(threadId, request)
    const tail = this.#tails.get(key)
    if (tail === undefined) return null
    this.#tails.delete(key)
    if (nowMs - tail.rememberedAtMs > AGE_MS_MAX) {
      this.#characters -= tail.characters
      return null
    }
    this.#tails.set(key, tail)
    return tail
  }

  remember(threadId: string, request: ContextRequest, { base, parts }: Remembered, nowMs: number): void {
    this.forget(threadId, request)
    const texts = [...base.lines, ...parts.map(({ text }) => text)]
    const characters = texts.reduce((sum, text) => sum + text.length, 0)
    this.#tails.set(keyOf(threadId, request), { base, parts, rememberedAtMs: nowMs, characters })
    this.#characters += characters
    for (const [oldest, tail] of this.#tails) {
      if (this.#characters <= CHARACTERS_MAX) break
      this.#tails.delete(oldest)
      this.#characters -= tail.characters
    }
  }

  forget(threadId: string, request: ContextRequest): void {
    const key = keyOf(threadId, request)
    this.#characters -= this.#tails.get(key)?.characters ?? 0
    this.#tails.delete(key)
  }
}

/** Contexts of other formats, strategies or budgets share few lines, and other counters count them otherwise. */
function keyOf(threadId: string, { format, strategy, model, budget, counter, scope }: ContextRequest): string {
  return JSON.stringify([threadId, format, strategy, model, budget, counter, scope])
}
