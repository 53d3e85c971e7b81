import { RetryableError } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'

export interface BreakerOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Failures in a row that open it. Default 5. */
  readonly failuresMax?: number
  /** How long it stays open before a single trial call, in milliseconds. Default 30,000. */
  readonly openMs?: number
  /** For the message: default "the provider". */
  readonly subject?: string
}

/**
 * Stops calls to a provider that is down. After some failures in a row calls are refused at once; a while later one call is
 * let through, and its success closes the breaker.
 */
export class CircuitBreaker {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #failuresMax: number
  readonly #openMs: number
  readonly #subject: string
  #failures = 0
  #openUntilMs = 0
  #isTrying = false

  constructor({ clock, failuresMax = 5, openMs = 30_000, subject = 'the provider' }: BreakerOptions) {
    this.#subject = subject
    this.#clock = clock
    this.#failuresMax = failuresMax
    this.#openMs = openMs
  }

  /** @throws RetryableError `SERVICE_UNAVAILABLE` with `retryAfter` while it is open; whatever `call` throws */
  async run<T>(call: () => Promise<T>, countsAsFailure: (error: unknown) => boolean): Promise<T> {
    const isOpen = this.#failures >= this.#failuresMax
    const leftMs = this.#openUntilMs - this.#clock.monotonicMs()
    if (isOpen && (leftMs > 0 || this.#isTrying)) {
      throw new RetryableError(
        'SERVICE_UNAVAILABLE',
        `${this.#subject} failed ${this.#failures} times in a row and is not called for a while`,
        {
          retryAfter: Math.max(1, Math.ceil(leftMs / 1_000)),
        },
      )
    }
    if (isOpen) this.#isTrying = true
    try {
      const result = await call()
      this.#failures = 0
      return result
    } catch (error) {
      if (countsAsFailure(error)) {
        this.#failures++
        this.#openUntilMs = this.#clock.monotonicMs() + this.#openMs
      }
      throw error
    } finally {
      if (isOpen) this.#isTrying = false
    }
  }
}
