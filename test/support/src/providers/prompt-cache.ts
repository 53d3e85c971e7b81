import { type RequestPart, tokensIn } from './request-parts.js'

/** Tokens of a request by their price. */
export interface InputUsage {
  readonly input: number
  readonly cacheRead: number
  readonly write5m: number
  readonly write1h: number
}

/** The time until an unused entry is lost, of caches without a mark. */
const IDLE_MS = 300_000
/** Parts that Anthropic's cache checks for an earlier entry, the marked one included. */
const LOOK_BACK_PARTS = 20
/** OpenAI's cache holds prefixes in steps of this. */
const STEP_TOKENS = 128

interface Entry {
  expiresAtMs: number
  lifetimeMs: number
}

/** Entries by model and by the chain of their last part. */
class Entries {
  readonly #entries = new Map<string, Entry>()

  /** Whether an entry is alive; its lifetime begins again. */
  use(key: string, nowMs: number): boolean {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.expiresAtMs <= nowMs) return false
    entry.expiresAtMs = nowMs + entry.lifetimeMs
    return true
  }

  write(key: string, lifetimeMs: number, nowMs: number): void {
    const before = this.#entries.get(key)
    const isLonger = before !== undefined && before.expiresAtMs > nowMs && before.lifetimeMs > lifetimeMs
    const kept = isLonger ? before.lifetimeMs : lifetimeMs
    this.#entries.set(key, { expiresAtMs: nowMs + kept, lifetimeMs: kept })
  }
}

/**
 * Anthropic's prompt cache: an entry is written at each mark, and read by a mark at its place or at most 19 parts after it. Reading
 * renews the lifetime of five minutes, or of an hour by the mark.
 */
export class MarkedCache {
  readonly #entries = new Entries()

  send(model: string, parts: readonly RequestPart[], tokensMin: number, nowMs: number): InputUsage {
    const key = (index: number) => `${model} ${parts[index]?.chain}`
    const until = runningTokens(parts)
    const marks = parts.flatMap(({ markMs }, index) =>
      markMs !== null && (until[index] ?? 0) >= tokensMin ? [{ index, markMs }] : [],
    )
    let read = -1
    for (const { index } of marks.toReversed()) {
      const candidates = Array.from({ length: Math.min(LOOK_BACK_PARTS, index + 1) }, (_, back) => index - back)
      read = candidates.find((place) => this.#entries.use(key(place), nowMs)) ?? -1
      if (read >= 0) break
    }
    const cacheRead = until[read] ?? 0
    const written = { write5m: 0, write1h: 0 }
    let from = cacheRead
    for (const { index, markMs } of marks) {
      const to = until[index] ?? 0
      if (index > read) written[markMs > IDLE_MS ? 'write1h' : 'write5m'] += to - from
      from = Math.max(from, to)
      if (index > read) this.#entries.write(key(index), markMs, nowMs)
      else this.#entries.use(key(index), nowMs)
    }
    return { input: tokensIn(parts) - from, cacheRead, ...written }
  }
}

/** OpenAI's prompt cache: every prefix of 1,024 tokens or more, in steps of 128, without marks and without a price of writing. */
export class AutomaticCache {
  readonly #entries = new Entries()

  send(model: string, parts: readonly RequestPart[], tokensMin: number, nowMs: number): InputUsage {
    const key = ({ chain }: RequestPart) => `${model} ${chain}`
    const shared = parts.findLastIndex((part) => this.#entries.use(key(part), nowMs))
    // A prefix of a living entry is read with it.
    for (const part of parts) this.#entries.write(key(part), IDLE_MS, nowMs)
    const sharedTokens = runningTokens(parts)[shared] ?? 0
    const cacheRead = sharedTokens < tokensMin ? 0 : sharedTokens - (sharedTokens % STEP_TOKENS)
    return { input: tokensIn(parts) - cacheRead, cacheRead, write5m: 0, write1h: 0 }
  }
}

function runningTokens(parts: readonly RequestPart[]): number[] {
  let sum = 0
  return parts.map(({ tokens }) => (sum += tokens))
}
