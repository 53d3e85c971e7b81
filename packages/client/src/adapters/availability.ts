import { type AdapterOptions, addressOf, DEADLINE_MS_DEFAULT } from './options.js'

/** Calls after a failure go on without Heddle for this long; the next one tries again. */
const PAUSE_MS = 5_000
/** A server that refuses connections says so at once, and one that runs says that it is there. */
const REACH_MS = 60

/**
 * Keeps an agent from waiting for a Heddle that is away: after a failure, calls go on without it for some seconds. It is
 * reported once for each outage. A server that is only slow gets the deadline of a call once, and then as long as one that
 * is there needs.
 */
export class Availability {
  #awayUntilMs: number | null = null
  #isAway = false
  /** It accepted a connection, and did not answer within the deadline. */
  #isHung = false
  readonly #now: () => number
  readonly #address: string | null
  readonly #deadlineMs: number
  readonly #onAway: (error: unknown) => void

  /** @param consequence the behavior of the agent meanwhile, as a sentence of the default warning */
  constructor(options: AdapterOptions, consequence: string) {
    this.#now = options.now ?? Date.now
    this.#address = addressOf(options)
    this.#deadlineMs = options.deadlineMs ?? DEADLINE_MS_DEFAULT
    this.#onAway = options.onAway ?? ((error) => warn(error, consequence))
  }

  /**
   * The result of the work, or null if Heddle is away.
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
      this.#isAway = false
      this.#isHung = false
      return result
    } catch (error) {
      if (!this.#isAway) this.#onAway(error)
      this.#isAway = true
      this.#awayUntilMs = this.#now() + PAUSE_MS
      return null
    }
  }

  /** Without this, the client would repeat a refused connection until its deadline. */
  async #reach(): Promise<void> {
    if (this.#address === null || (await this.#answers(REACH_MS))) return
    if (!this.#isHung && (await this.#answers(this.#deadlineMs))) return
    this.#isHung = true
    throw new Error(`no answer within ${this.#deadlineMs} ms`)
  }

  async #answers(timeoutMs: number): Promise<boolean> {
    try {
      const answer = await fetch(`${this.#address}/healthz`, { signal: AbortSignal.timeout(timeoutMs) })
      await answer.body?.cancel()
      return true
    } catch (error) {
      if (error instanceof DOMException && error.name === 'TimeoutError') return false
      throw error
    }
  }
}

function warn(error: unknown, consequence: string): void {
  const reason = error instanceof Error ? error.message : String(error)
  // biome-ignore lint/suspicious/noConsole: an application that gave no callback has no other place for it.
  console.warn(`Heddle does not answer (${reason}). ${consequence}`)
}
