import { isWorthRetrying } from '@heddle/client/calls'
import { HeddleError, limits, type PlacedMessage } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'
import { JSON_CHARACTERS_PER_JOB, type SizedMessage } from './split-append.js'

/** A message that waits for its acknowledgement. */
export interface Entry extends SizedMessage {
  readonly endsAtMs: number
  resolve(): void
  reject(error: unknown): void
}

/** Some messages of one thread, as one job. */
export interface Batch {
  readonly messages: readonly PlacedMessage[]
  readonly jsonCharacters: number
  readonly endsAtMs: number
}

export interface LineOptions {
  readonly clock: Clock
  readonly batchMessagesMax: number
  readonly batchAgeMs: number
  /** Resolves when the batch is acknowledged. */
  send(batch: Batch): Promise<void>
  /** Called when the line is empty and nothing of it is under way. */
  onIdle(): void
}

/**
 * The messages of one thread on their way. One batch is under way at a time: so messages are stored in the order in which
 * they came, and while one batch travels the next one gathers, so batches grow with the load by themselves.
 */
export class ThreadBatcher {
  readonly #options: LineOptions
  #entries: Entry[] = []
  #isSending = false
  #timer: AbortController | undefined

  constructor(options: LineOptions) {
    this.#options = options
  }

  enter(entry: Entry): void {
    this.#entries.push(entry)
    if (this.#isSending) return
    if (this.#entries.length >= this.#options.batchMessagesMax) this.sendNow()
    else this.#timer ??= this.#startTimer()
  }

  /** Sends what is there without waiting for more. */
  sendNow(): void {
    this.#timer?.abort()
    this.#timer = undefined
    if (this.#isSending || this.#entries.length === 0) return
    this.#isSending = true
    void this.#sendAll()
  }

  #startTimer(): AbortController {
    const timer = new AbortController()
    this.#options.clock.wait(this.#options.batchAgeMs, timer.signal).then(
      () => this.sendNow(),
      () => {},
    )
    return timer
  }

  /** What gathered while a batch was under way has waited long enough. */
  async #sendAll(): Promise<void> {
    while (this.#entries.length > 0) await this.#sendBatch(this.#takeBatch())
    this.#isSending = false
    this.#options.onIdle()
  }

  async #sendBatch(batch: readonly Entry[]): Promise<void> {
    const endsAtMs = Math.min(...batch.map((entry) => entry.endsAtMs))
    try {
      await this.#options.send({
        messages: batch.map(({ placed }) => placed),
        jsonCharacters: batch.reduce((sum, { jsonCharacters }) => sum + jsonCharacters, 0),
        endsAtMs,
      })
      for (const entry of batch) entry.resolve()
    } catch (error) {
      const isAtFault = faultFinder(error, endsAtMs)
      // The others go first again, with the same ids at the same places.
      this.#entries.unshift(...batch.filter((entry, index) => !isAtFault(entry, index)))
      for (const [index, entry] of batch.entries()) if (isAtFault(entry, index)) entry.reject(error)
    }
  }

  #takeBatch(): Entry[] {
    const ids = new Set<string>()
    let size = 0
    let characters = 0
    let jsonCharacters = 0
    for (const entry of this.#entries) {
      characters += entry.characters
      jsonCharacters += entry.jsonCharacters
      const isFull = size === this.#options.batchMessagesMax
      const isHeavy = characters > limits.charactersPerJobMax || jsonCharacters > JSON_CHARACTERS_PER_JOB
      // Of two messages under one id in one job nobody could tell which of them is at fault.
      const isTwin = ids.has(entry.placed.message.id)
      if (size > 0 && (isFull || isHeavy || isTwin)) break
      ids.add(entry.placed.message.id)
      size++
    }
    return this.#entries.splice(0, size)
  }
}

/**
 * Whom an error of a batch concerns: the message that it names; those whose time is up, where the batch only came too
 * late; otherwise all of them. At least one, so that a line always gets shorter.
 */
function faultFinder(error: unknown, endsAtMs: number): (entry: Entry, index: number) => boolean {
  if (isWorthRetrying(error)) return (entry) => entry.endsAtMs <= endsAtMs
  const named = error instanceof HeddleError ? /^messages\.(\d+)(?:\.|$)/.exec(error.field ?? '')?.[1] : undefined
  return named === undefined ? () => true : (_entry, index) => index === Number(named)
}
