import { RetryableError } from '@heddle/contracts'

/** The limits of what is held in memory at once. */
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
 * Limits the messages that callers have added and that are not acknowledged yet. Above the limits callers wait, in the order
 * of their calls. The number of waiting callers is limited, too, because callers may add messages without awaiting them.
 */
export class Backpressure {
  readonly #limits: BackpressureLimits
  readonly #waiting = new Set<Waiting>()
  #messages = 0
  #characters = 0
  #charactersWaiting = 0

  constructor(limits: BackpressureLimits) {
    this.#limits = limits
  }

  /**
   * Calls `enter` as soon as the limits allow it, possibly at once, in the order of the calls.
   *
   * @returns stops waiting
   * @throws RetryableError `RATE_LIMITED` if too many callers wait
   */
  acquire(characters: number, enter: () => void): () => void {
    const waiting = { characters, enter }
    if (this.#waiting.size === 0 && this.#fits(characters)) {
      this.#enter(waiting)
      return () => {}
    }
    if (!this.#mayWait(characters)) {
      throw new RetryableError(
        'RATE_LIMITED',
        'The producer has reached its limits for pending and for waiting messages',
        {
          retryAfter: 1,
          hint: 'Await the promises of `add` before adding more, or raise pendingMessagesMax and pendingCharactersMax.',
          facts: { pending: this.#messages, waiting: this.#waiting.size, ...this.#limits },
        },
      )
    }
    this.#waiting.add(waiting)
    this.#charactersWaiting += characters
    return () => {
      if (this.#stopWaiting(waiting)) this.#admit()
    }
  }

  release(messages: number, characters: number): void {
    this.#messages -= messages
    this.#characters -= characters
    this.#admit()
  }

  #admit(): void {
    for (const waiting of this.#waiting) {
      if (!this.#fits(waiting.characters)) return
      this.#stopWaiting(waiting)
      this.#enter(waiting)
    }
  }

  /** If nothing is pending, anything fits: a message above the limit would wait for ever. */
  #fits(characters: number): boolean {
    const { messagesMax, charactersMax } = this.#limits
    return this.#messages === 0 || (this.#messages < messagesMax && this.#characters + characters <= charactersMax)
  }

  #mayWait(characters: number): boolean {
    const { messagesMax, charactersMax } = this.#limits
    const { size } = this.#waiting
    return size === 0 || (size < messagesMax && this.#charactersWaiting + characters <= charactersMax)
  }

  /** @returns false if it does not wait any more */
  #stopWaiting(waiting: Waiting): boolean {
    if (!this.#waiting.delete(waiting)) return false
    this.#charactersWaiting -= waiting.characters
    return true
  }

  #enter({ characters, enter }: Waiting): void {
    this.#messages++
    this.#characters += characters
    enter()
  }
}
