import { RetryableError } from '@heddle/contracts'

/** What may be held in memory at once. */
export interface BackpressureLimits {
  readonly messagesMax: number
  /** Characters of JSON. */
  readonly charactersMax: number
}

interface Waiting {
  readonly characters: number
  enter(): void
}

/**
 * The room for what callers have handed in and nobody has acknowledged yet. Who finds none waits in line, first come,
 * first served; the line is bounded too, for callers that do not wait for what they hand in.
 */
export class Backpressure {
  readonly #limits: BackpressureLimits
  readonly #line = new Set<Waiting>()
  #messages = 0
  #characters = 0
  #charactersInLine = 0

  constructor(limits: BackpressureLimits) {
    this.#limits = limits
  }

  /**
   * Calls `enter` once there is room, which may be at once; in the order of the calls.
   *
   * @returns leaves the line, if still in it
   * @throws RetryableError `RATE_LIMITED` where the line itself is full
   */
  take(characters: number, enter: () => void): () => void {
    const waiting = { characters, enter }
    if (this.#line.size === 0 && this.#fits(characters)) {
      this.#enter(waiting)
      return () => {}
    }
    if (!this.#fitsInLine(characters)) {
      throw new RetryableError('RATE_LIMITED', 'The producer holds as many messages as it may, and as many wait', {
        retryAfter: 1,
        hint: 'Await what `add` returns before handing in more, or raise pendingMessagesMax and pendingCharactersMax.',
        facts: { pending: this.#messages, waiting: this.#line.size, ...this.#limits },
      })
    }
    this.#line.add(waiting)
    this.#charactersInLine += characters
    return () => {
      if (this.#leaveLine(waiting)) this.#admit()
    }
  }

  give(messages: number, characters: number): void {
    this.#messages -= messages
    this.#characters -= characters
    this.#admit()
  }

  #admit(): void {
    for (const waiting of this.#line) {
      if (!this.#fits(waiting.characters)) return
      this.#leaveLine(waiting)
      this.#enter(waiting)
    }
  }

  /** Empty room takes anything: what is larger than the bound would wait for ever. */
  #fits(characters: number): boolean {
    const { messagesMax, charactersMax } = this.#limits
    return this.#messages === 0 || (this.#messages < messagesMax && this.#characters + characters <= charactersMax)
  }

  #fitsInLine(characters: number): boolean {
    const { messagesMax, charactersMax } = this.#limits
    const { size } = this.#line
    return size === 0 || (size < messagesMax && this.#charactersInLine + characters <= charactersMax)
  }

  /** @returns false where it was not in the line any more */
  #leaveLine(waiting: Waiting): boolean {
    if (!this.#line.delete(waiting)) return false
    this.#charactersInLine -= waiting.characters
    return true
  }

  #enter({ characters, enter }: Waiting): void {
    this.#messages++
    this.#characters += characters
    enter()
  }
}
