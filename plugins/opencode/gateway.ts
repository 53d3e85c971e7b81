import type { SessionEvent } from './events.js'
import { MissedSessions } from './missed.js'

/** Milliseconds to wait for an answer, and until a gateway that was away is tried again. */
const ANSWER_MS = 2_000
const RETRY_MS = 5_000
/** In the background an answer may take this many times as long. */
const PATIENCE = 5
/** Milliseconds after an event until OpenCode has stored what it is about. */
const STORED_MS = 1_000
/** A message may be some time older than the event that says so; a repeat is recorded once. */
const EARLIER_MS = 10_000
/** Attempts that fail while Heddle is ready; then an event is given up. */
const ATTEMPTS_MAX = 3

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
  readonly storedMs?: number | undefined
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
  readonly #address: URL | null
  #isAway = false
  #isRefused = false
  #isClosed = false
  #catchingUp: Promise<void> | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #missed = new MissedSessions()
  /** By event and session, of attempts to make up for them. */
  readonly #failures = new Map<string, number>()

  constructor(private readonly options: GatewayOptions) {
    this.#address = parsed(`${options.url.replace(/\/+$/, '')}/v1/hooks/opencode${options.query}`)
  }

  /** Null where the event was not recorded. */
  async send(event: SessionEvent): Promise<Answer | null> {
    const nowMs = Date.now()
    if (this.#address === null) {
      await this.#refused('HEDDLE_URL is not an address. The session goes on without Heddle.')
      return null
    }
    if (this.#isAway) {
      this.#missed.add(event.session, nowMs)
      return null
    }
    try {
      const answer = await this.#post(this.#address, event)
      this.#isRefused = false
      return answer
    } catch (error) {
      const reason = messageOf(error)
      if (error instanceof Refusal) {
        await this.#refused(`Heddle refused an event of this session: ${reason}`)
        return null
      }
      this.#missed.add(event.session, nowMs)
      if (this.#isAway) return null
      this.#isAway = true
      this.#tryLater()
      await this.#say(
        `Heddle did not answer at ${this.#address.origin} (${reason}). The session goes on without it; what is said now is recorded once it is back.`,
      )
      return null
    }
  }

  /** Makes up for what was missed once more, and not again. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#catchingUp
    if (this.#missed.size > 0) await this.#retry()
  }

  #tryLater(): void {
    clearTimeout(this.#timer)
    if (this.#isClosed || (!this.#isAway && this.#missed.size === 0)) return
    this.#timer = setTimeout(() => void this.#retry(), this.options.retryMs ?? RETRY_MS)
    this.#timer.unref()
  }

  /** Events of meanwhile are missed too, so that all of a session are sent in their order. */
  async #retry(): Promise<void> {
    const address = this.#address
    if (address === null) return
    if (this.#catchingUp !== null) return await this.#catchingUp
    this.#isAway = true
    this.#catchingUp = this.#catchUp(address)
      .then(
        () => {
          this.#isAway = false
        },
        () => {},
      )
      .finally(() => {
        this.#catchingUp = null
        this.#tryLater()
      })
    await this.#catchingUp
  }

  async #catchUp(address: URL): Promise<void> {
    const again: [session: string, sinceMs: number][] = []
    const storedMs = this.options.storedMs ?? STORED_MS
    for (let next = await this.#missed.take(storedMs); next !== null; next = await this.#missed.take(storedMs)) {
      const { session, sinceMs } = next
      try {
        const read = () => this.options.history(session, sinceMs - EARLIER_MS)
        const events = (await this.#attempt(address, session, read, () => again.push([session, sinceMs]))) ?? []
        for (const event of events) {
          const atMs = event.sentAt === undefined ? sinceMs : Date.parse(event.sentAt)
          const send = () => this.#post(address, event, this.#isClosed ? 1 : PATIENCE)
          await this.#attempt(address, keyOf(event), send, () => again.push([session, atMs]))
        }
      } catch (error) {
        this.#missed.add(session, sinceMs)
        for (const [each, atMs] of again) this.#missed.add(each, atMs)
        throw error
      }
    }
    // At the next attempt: sessions go on meanwhile.
    for (const [session, atMs] of again) this.#missed.add(session, atMs)
  }

  /** A failure while Heddle is ready holds back nothing else, and is given up after some attempts. */
  async #attempt<Result>(
    address: URL,
    key: string,
    work: () => Promise<Result>,
    isFailed: () => void,
  ): Promise<Result | null> {
    const failures = this.#failures.get(key) ?? 0
    if (failures >= ATTEMPTS_MAX) return null
    try {
      const result = await work()
      this.#failures.delete(key)
      return result
    } catch (error) {
      if (error instanceof Refusal) return null
      if (!(await this.#isReady(address))) throw error
      this.#failures.set(key, failures + 1)
      if (failures + 1 < ATTEMPTS_MAX) isFailed()
      else
        await this.#say(
          `Heddle could not record a part of this session, however often it was sent: ${messageOf(error)}`,
        )
      return null
    }
  }

  async #isReady(address: URL): Promise<boolean> {
    const ready = new URL(address.href.replace(/\/v1\/hooks\/opencode.*$/s, '/readyz'))
    const signal = AbortSignal.timeout(this.options.answerMs ?? ANSWER_MS)
    return await fetch(ready, { signal }).then(
      ({ ok }) => ok,
      () => false,
    )
  }

  async #post(address: URL, event: SessionEvent, patience = 1): Promise<Answer> {
    const { key, answerMs = ANSWER_MS } = this.options
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key && { 'x-heddle-key': key }) },
      body: JSON.stringify(event),
      signal: AbortSignal.timeout(answerMs * patience),
    })
    if (response.ok) return (await response.json()) as Answer
    const { detail = '' } = (await response.json().catch(() => ({}))) as { detail?: string }
    const reason = `${response.status} ${detail}`.trim()
    const mayChange = response.status === 408 || response.status === 429 || response.status >= 500
    throw mayChange ? new Error(reason) : new Refusal(reason)
  }

  async #refused(message: string): Promise<void> {
    if (!this.#isRefused) await this.#say(message)
    this.#isRefused = true
  }

  async #say(message: string): Promise<void> {
    await this.options.say(message).catch(() => {})
  }
}

function parsed(address: string): URL | null {
  try {
    return new URL(address)
  } catch {
    return null
  }
}

function keyOf(event: SessionEvent): string {
  return `${event.session} ${event.type} ${'id' in event ? event.id : ''}`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
