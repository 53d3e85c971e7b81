import { HeddleError, RetryableError } from '@heddle/contracts'
import { backOffMs, type Clock, untilStopped, withDeadline } from '@heddle/runtime'
import { CircuitBreaker } from './circuit-breaker.js'
import { ContextOverflowError, providerError } from './provider-errors.js'

export interface Patience {
  /** Attempts of one call. */
  readonly attemptsMax: number
  /** Time limit of one attempt, in milliseconds. */
  readonly callMsMax: number
  /** The wait before the second attempt, in milliseconds; it doubles with each further one. */
  readonly backoffMs: number
  /** Longest wait requested by a provider that a worker accepts, in milliseconds; for longer ones the job returns to its queue. */
  readonly waitMsMax: number
}

const patience: Patience = { attemptsMax: 3, callMsMax: 60_000, backoffMs: 500, waitMsMax: 20_000 }

export interface PatienceOptions {
  readonly clock: Clock
  readonly breaker?: CircuitBreaker
  /** Default: 3 attempts of a minute each, waits from half a second to 20 seconds. */
  readonly limits?: Partial<Patience>
}

/** Outcome of one attempt: a reply or an error. */
export type TryOutcome<Reply> = { readonly reply: Reply } | { readonly error: unknown }

/**
 * Calls a provider with a deadline for each attempt, retries temporary failures after the delay that the provider requests,
 * and stops calling a provider that fails repeatedly.
 */
export class PatientCalls {
  readonly #place: { readonly provider: string; readonly model: string }
  readonly #clock: Clock
  readonly #breaker: CircuitBreaker
  readonly #limits: Patience

  constructor(
    place: { readonly provider: string; readonly model: string },
    { clock, breaker = new CircuitBreaker({ clock }), limits = {} }: PatienceOptions,
  ) {
    this.#place = place
    this.#clock = clock
    this.#breaker = breaker
    this.#limits = { ...patience, ...limits }
  }

  /**
   * @param call one attempt
   * @param onTry called after each attempt, with its duration in milliseconds
   * @throws HeddleError; the signal's reason once it is aborted
   */
  async run<Reply>(
    call: (signal: AbortSignal) => Promise<Reply>,
    signal: AbortSignal,
    onTry?: (outcome: TryOutcome<Reply>, durationMs: number) => void,
  ): Promise<Reply> {
    for (let attempt = 1; ; attempt++) {
      try {
        // A call that its caller aborted says nothing about the provider.
        const countsAsFailure = (error: unknown) => !signal.aborted && isOutage(error)
        return await this.#breaker.run(() => this.#attempt(call, signal, onTry), countsAsFailure)
      } catch (error) {
        signal.throwIfAborted()
        const waitMs = this.#waitMs(error, attempt)
        if (waitMs === null) throw error
        await this.#clock.wait(waitMs, signal)
      }
    }
  }

  /** Milliseconds until the next attempt; null if there is no further one. */
  #waitMs(error: unknown, attempt: number): number | null {
    if (attempt >= this.#limits.attemptsMax || !(error instanceof HeddleError)) return null
    if (error.disposition !== 'retry' || error instanceof ContextOverflowError) return null
    const { backoffMs, waitMsMax } = this.#limits
    const askedMs = (error.retryAfter ?? 0) * 1_000
    if (askedMs > waitMsMax) return null
    return Math.max(askedMs, backOffMs(attempt - 1, { firstMs: backoffMs, maxMs: waitMsMax }))
  }

  async #attempt<Reply>(
    call: (signal: AbortSignal) => Promise<Reply>,
    signal: AbortSignal,
    onTry?: (outcome: TryOutcome<Reply>, durationMs: number) => void,
  ): Promise<Reply> {
    signal.throwIfAborted()
    const { provider, model } = this.#place
    const startMs = this.#clock.nowMs()
    const settle = (outcome: TryOutcome<Reply>) => onTry?.(outcome, Math.max(0, this.#clock.nowMs() - startMs))
    const answered = async (either: AbortSignal) => {
      try {
        // A call that ignores its signal is abandoned.
        return await untilStopped(either, call(either))
      } catch (error) {
        throw providerError(error, { provider, model, nowMs: this.#clock.nowMs() })
      }
    }
    const timeoutMs = this.#limits.callMsMax
    const late = () => new RetryableError('TIMEOUT', `${provider} ${model} did not answer within ${timeoutMs} ms`)
    try {
      const reply = await withDeadline(answered, { timeoutMs, late, signal, clock: this.#clock })
      settle({ reply })
      return reply
    } catch (error) {
      settle({ error })
      throw error
    }
  }
}

/** A provider that refuses a key or a prompt is up. */
function isOutage(error: unknown): boolean {
  return error instanceof HeddleError && error.disposition === 'retry' && !(error instanceof ContextOverflowError)
}
