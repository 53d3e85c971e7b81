import { type ErrorCode, errorCodes, type HeddleError, RetryableError } from '@heddle/contracts'
import { type AdapterOptions, addressOf, DEADLINE_MS_DEFAULT } from './options.js'

/** Calls after a failure go on without Heddle for this long; the next one tries again. */
const PAUSE_MS = 5_000
/** A server that refuses connections says so at once, and one that runs says that it is there. */
const REACH_MS = 60

/** The reason for which calls go on without Heddle: it is not available, it refuses the key, or it refuses a request. */
type Reason = 'away' | 'key' | 'request'

/**
 * Keeps an agent from waiting for a Heddle that is away or refuses it: after a failure, calls go on without it for some
 * seconds. Each reason is reported once, until a call succeeds. A server that is only slow gets the deadline of a call once, and
 * then as long as one that is there needs.
 */
export class Availability {
  #awayUntilMs: number | null = null
  readonly #reported = new Set<Reason>()
  /** It accepted a connection, and did not answer within the deadline. */
  #isHung = false
  readonly #now: () => number
  readonly #address: string | null
  readonly #deadlineMs: number
  readonly #onAway: (error: HeddleError) => void

  /** @param consequence the behavior of the agent meanwhile, as a sentence of the default warning */
  constructor(options: AdapterOptions, consequence: string) {
    this.#now = options.now ?? Date.now
    this.#address = addressOf(options)
    this.#deadlineMs = options.deadlineMs ?? DEADLINE_MS_DEFAULT
    this.#onAway = options.onAway ?? ((error) => warn(error, consequence))
  }

  /**
   * The result of the work, or null if Heddle is away or refused it.
   *
   * @param isLast whether there is no later chance: then it is tried even shortly after a failure, until the deadline
   */
  async attempt<Result>(work: () => Promise<Result>, { isLast = false } = {}): Promise<Result | null> {
    if (isLast) this.#isHung = false
    else if (this.#awayUntilMs !== null && this.#now() < this.#awayUntilMs) return null
    try {
      await this.#reach()
      const result = await work()
      this.#awayUntilMs = null
      this.#reported.clear()
      this.#isHung = false
      return result
    } catch (thrown) {
      const error = typed(thrown)
      const reason = reasonOf(error)
      if (!this.#reported.has(reason)) this.#onAway(error)
      this.#reported.add(reason)
      this.#awayUntilMs = this.#now() + PAUSE_MS
      return null
    }
  }

  /** Without this, the client would repeat a refused connection until its deadline. */
  async #reach(): Promise<void> {
    if (this.#address === null || (await this.#answers(REACH_MS))) return
    if (!this.#isHung && (await this.#answers(this.#deadlineMs))) return
    this.#isHung = true
    throw new RetryableError('TIMEOUT', `no answer within ${this.#deadlineMs} ms`)
  }

  async #answers(timeoutMs: number): Promise<boolean> {
    try {
      const answer = await fetch(`${this.#address}/healthz`, { signal: AbortSignal.timeout(timeoutMs) })
      await answer.body?.cancel()
      return true
    } catch (error) {
      if (error instanceof DOMException && error.name === 'TimeoutError') return false
      throw new RetryableError('SERVICE_UNAVAILABLE', `no connection to ${this.#address}`, { cause: error })
    }
  }
}

/** Also of another copy of the contracts, whose classes are not those of this one. */
function typed(thrown: unknown): HeddleError {
  if (isTyped(thrown)) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new RetryableError('INTERNAL', message, { cause: thrown })
}

function isTyped(thrown: unknown): thrown is HeddleError {
  return thrown instanceof Error && 'code' in thrown && errorCodes.includes(thrown.code as ErrorCode)
}

function reasonOf({ code, disposition }: HeddleError): Reason {
  if (code === 'UNAUTHORIZED' || code === 'FORBIDDEN') return 'key'
  return disposition === 'retry' ? 'away' : 'request'
}

const SAYING: Readonly<Record<Reason, string>> = {
  away: 'Heddle is not available',
  key: 'Heddle refused the key',
  request: 'Heddle refused a request',
}

function warn(error: HeddleError, consequence: string): void {
  const { message, hint } = error
  const advice = hint === undefined ? '' : ` ${hint}`
  // biome-ignore lint/suspicious/noConsole: an application that gave no callback has no other place for it.
  console.warn(`${SAYING[reasonOf(error)]} (${message}). ${consequence}${advice}`)
}
