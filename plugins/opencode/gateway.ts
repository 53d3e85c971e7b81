import type { SessionEvent } from './events.js'

/** Milliseconds to wait for an answer, and until a gateway that was away is tried again. */
const ANSWER_MS = 2_000
const RETRY_MS = 5_000
/** A message may be some time older than the event that says so; a repeat is recorded once. */
const EARLIER_MS = 10_000
/** Sessions that are made up for. */
const MISSED_MAX = 1_000

export interface Answer {
  /** A stub in place of an output. */
  readonly output?: string
  /** The reference of a recorded output. */
  readonly reference?: string
  /** The text that a session needs after a compaction. */
  readonly text?: string
}

export interface GatewayOptions {
  /** `http://127.0.0.1:4680` */
  readonly url: string
  readonly key?: string | undefined
  /** Limits and agent, as a query: `?outputTokensMax=8000`. */
  readonly query: string
  readonly answerMs?: number | undefined
  readonly retryMs?: number | undefined
  /** Shows a message to the user. */
  say(message: string): Promise<void>
  /** The events of a session since a moment, from what OpenCode keeps of it. */
  history(session: string, sinceMs: number): Promise<SessionEvent[]>
}

class Refusal extends Error {}

/**
 * Sends events to Heddle. While Heddle is away it sends nothing and answers at once, tries again in the background, and then
 * sends what OpenCode has recorded meanwhile. It never fails: the agent goes on.
 */
export class Gateway {
  /** When it was tried last; null while it answers. */
  #triedMs: number | null = null
  #isRefused = false
  #catchingUp: Promise<void> | null = null
  /** Since when events of a session are missing. */
  readonly #missed = new Map<string, number>()

  constructor(private readonly options: GatewayOptions) {}

  async send(event: SessionEvent): Promise<Answer> {
    const nowMs = Date.now()
    if (this.#triedMs !== null) {
      this.#miss(event.session, nowMs)
      if (nowMs - this.#triedMs >= (this.options.retryMs ?? RETRY_MS)) this.#retry()
      return {}
    }
    try {
      const answer = await this.#post(event)
      this.#isRefused = false
      return answer
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (error instanceof Refusal) {
        if (!this.#isRefused) await this.#say(`Heddle refused an event of this session: ${reason}`)
        this.#isRefused = true
        return {}
      }
      this.#miss(event.session, nowMs)
      const isKnown = this.#triedMs !== null
      this.#triedMs = Date.now()
      if (!isKnown) {
        const { origin } = new URL(this.options.url)
        await this.#say(
          `Heddle did not answer at ${origin} (${reason}). The session goes on without it; what is said now is recorded once it is back.`,
        )
      }
      return {}
    }
  }

  /** Until a running attempt to make up for an outage has ended. */
  async settled(): Promise<void> {
    await this.#catchingUp
  }

  #retry(): void {
    this.#triedMs = Date.now()
    this.#catchingUp ??= this.#catchUp().finally(() => {
      this.#catchingUp = null
    })
  }

  /** Events of meanwhile are missed too, so that all of a session are sent in their order. */
  async #catchUp(): Promise<void> {
    try {
      while (this.#missed.size > 0) {
        const [[session, sinceMs]] = this.#missed as unknown as [[string, number]]
        const events = await this.options.history(session, sinceMs - EARLIER_MS)
        this.#missed.delete(session)
        for (const event of events) {
          try {
            await this.#post(event)
          } catch (error) {
            if (error instanceof Refusal) continue
            this.#missed.set(session, Math.min(sinceMs, this.#missed.get(session) ?? sinceMs))
            throw error
          }
        }
      }
      this.#triedMs = null
    } catch {
      this.#triedMs = Date.now()
    }
  }

  #miss(session: string, sinceMs: number): void {
    if (!this.#missed.has(session) && this.#missed.size < MISSED_MAX) this.#missed.set(session, sinceMs)
  }

  async #post(event: SessionEvent): Promise<Answer> {
    const { url, key, query, answerMs = ANSWER_MS } = this.options
    const response = await fetch(`${url.replace(/\/+$/, '')}/v1/hooks/opencode${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key && { 'x-heddle-key': key }) },
      body: JSON.stringify(event),
      signal: AbortSignal.timeout(answerMs),
    })
    if (response.ok) return (await response.json()) as Answer
    const { detail = '' } = (await response.json().catch(() => ({}))) as { detail?: string }
    const reason = `${response.status} ${detail}`.trim()
    const mayChange = response.status === 408 || response.status === 429 || response.status >= 500
    throw mayChange ? new Error(reason) : new Refusal(reason)
  }

  async #say(message: string): Promise<void> {
    await this.options.say(message).catch(() => {})
  }
}
