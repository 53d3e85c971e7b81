import {
  type ErrorData,
  errorCodes,
  errorFromData,
  type HeddleError,
  limits,
  RetryableError,
  validationError,
} from '@heddle/contracts'
import { platformSend } from '#send'
import { checkDeadline, platformClock, untilDeadline } from '../calls/deadline.js'
import { isWorthRetrying, pauseAfter } from '../calls/retrying.js'
import type { Incoming, Send } from './send.js'

export interface TransportOptions {
  /** Where the gateway is: `https://heddle.example`, with the path under which a proxy shows it; `/v1` at its end is optional. */
  readonly url: string
  /** A key of the project; none where the gateway asks for none. */
  readonly key?: string
  /** How long a call waits for its answer unless it says otherwise, in milliseconds. Default 30,000. */
  readonly deadlineMs?: number
  /** Default: connections of Node that stay open, elsewhere the one of the platform. */
  readonly fetch?: typeof fetch
}

export interface Call {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** From `/v1` on, with the names in it encoded. */
  readonly path: string
  /** Lists become texts with commas. */
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  /** Of a body that is a text, and sent as it is. Default JSON. */
  readonly bodyMediaType?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly deadlineMs?: number | undefined
  /** What a try would like of its answer (RFC 7240), with what is left until the deadline then. */
  readonly prefer?: ((leftMs: number, isFirstTry: boolean) => string) | undefined
  readonly signal?: AbortSignal | undefined
  /** `again`: the same request twice does what it does once. `refused`: only what was surely not begun is sent again. */
  readonly retry: 'again' | 'refused' | 'never'
}

/** An answer of the contract: who calls gives it the type that its operation has there. */
export interface Answered<Body, Status = number> {
  readonly status: Status
  readonly body: Body
}

export const DEADLINE_MS_DEFAULT = 30_000
/** The answer to a wait that has just ended, with the reason for it, is still on its way. */
const GRACE_MS = 500

/** Sends requests, again where that helps and does no harm, and brings refusals back as the errors that they were. */
export class Transport {
  readonly #options: TransportOptions
  readonly #base: string
  readonly #closing: AbortSignal | undefined

  /** @throws PermanentError `VALIDATION_ERROR` where the address is none */
  constructor(options: TransportOptions, closing?: AbortSignal) {
    const url = URL.canParse(options.url) ? new URL(options.url) : null
    if (url === null || !/^https?:$/.test(url.protocol)) {
      throw validationError('url', 'must be an address such as http://127.0.0.1:4680', options.url)
    }
    this.#options = options
    this.#closing = closing
    // Many give the address of the routes, as clients of model providers take it.
    this.#base = url.href.replace(/\/+$/, '').replace(/\/v1$/, '')
  }

  /**
   * @throws PermanentError `VALIDATION_ERROR` for a deadline that is none; HeddleError what the gateway refused, with its code
   * @throws RetryableError `SERVICE_UNAVAILABLE` where nobody answers, `TIMEOUT` at the deadline; the signal's reason
   */
  async call<Body>(given: Call): Promise<Answered<Body>> {
    const call = { ...given, signal: this.#untilClosed(given.signal) }
    call.signal?.throwIfAborted()
    const deadlineMs = call.deadlineMs ?? this.#options.deadlineMs ?? DEADLINE_MS_DEFAULT
    checkDeadline(deadlineMs)
    const endsAtMs = performance.now() + deadlineMs
    for (let tries = 0; ; tries++) {
      try {
        return await this.#once<Body>(call, endsAtMs, tries === 0)
      } catch (error) {
        call.signal?.throwIfAborted()
        const pauseMs = pauseAfter(error, tries)
        if (!mayRetry(call, error) || performance.now() + pauseMs >= endsAtMs) throw error
        await platformClock.wait(pauseMs, call.signal)
      }
    }
  }

  /** Opens a stream; nothing ends it but its signal, the end of the client, or the other side. */
  async open(call: Pick<Call, 'path' | 'query' | 'headers' | 'signal'>): Promise<Response> {
    const { fetch: send = fetch } = this.#options
    const signal = this.#untilClosed(call.signal)
    return await this.#send({ ...call, method: 'GET', retry: 'never' }, signal ?? new AbortController().signal, send)
  }

  #untilClosed(signal: AbortSignal | undefined): AbortSignal | undefined {
    if (signal === undefined || this.#closing === undefined) return signal ?? this.#closing
    return AbortSignal.any([signal, this.#closing])
  }

  async #once<Body>(call: Call, endsAtMs: number, isFirstTry: boolean): Promise<Answered<Body>> {
    const leftMs = Math.max(1, endsAtMs - performance.now())
    const stopping = new AbortController()
    const answer = this.#exchange<Body>(call, call.prefer?.(leftMs, isFirstTry), stopping.signal)
    const late = () => new RetryableError('TIMEOUT', 'no answer came by the deadline')
    try {
      return await untilDeadline(answer, { timeoutMs: leftMs + GRACE_MS, late, signal: call.signal })
    } catch (error) {
      stopping.abort(error)
      throw error
    }
  }

  async #exchange<Body>(call: Call, prefer: string | undefined, signal: AbortSignal): Promise<Answered<Body>> {
    const { fetch: given } = this.#options
    const headers = { ...call.headers, ...(prefer !== undefined && { prefer }) }
    const response = await this.#send({ ...call, headers }, signal, given ?? platformSend ?? fetch)
    const text = await response.text()
    try {
      return { status: response.status, body: JSON.parse(text) as Body }
    } catch (error) {
      throw unanswered(error)
    }
  }

  async #send<Response extends Incoming>(
    { method, path, query = {}, body, bodyMediaType, headers }: Call,
    signal: AbortSignal,
    send: (url: URL, outgoing: Parameters<Send>[1] & { redirect: 'error' }) => Promise<Response>,
  ): Promise<Response> {
    const { key } = this.#options
    const url = new URL(`${this.#base}${path}`)
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    let response: Response
    try {
      response = await send(url, {
        method,
        signal,
        // A key is not carried to another server.
        redirect: 'error',
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': bodyMediaType ?? 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: bodyMediaType === undefined ? JSON.stringify(body) : String(body) }),
      })
    } catch (error) {
      signal.throwIfAborted()
      throw unanswered(error)
    }
    if (!response.ok) throw await refusalOf(response)
    return response
  }
}

/** Asks the gateway to wait with its answer: in whole seconds, as RFC 7240 has it. */
export function preferWait(leftMs: number): string {
  return `wait=${Math.min(Math.max(1, Math.ceil(leftMs / 1_000)), limits.waitMsMax / 1_000)}`
}

function mayRetry({ retry }: Call, error: unknown): boolean {
  if (retry === 'never' || !isWorthRetrying(error)) return false
  const { code } = error as HeddleError
  // These two are refused before anything is begun; all else may have been.
  return retry === 'again' || code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE'
}

function unanswered(cause: unknown): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', 'the gateway does not answer', {
    hint: 'See whether it runs: GET /healthz',
    cause,
  })
}

/** A problem document is the error that it was; a proxy may answer in its own words. */
async function refusalOf(response: Incoming): Promise<HeddleError> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const text = await response.text().catch(() => '')
  const problem = problemIn(text)
  if (problem !== null) return errorFromData(problem)
  return new RetryableError(
    response.status === 429 ? 'RATE_LIMITED' : 'SERVICE_UNAVAILABLE',
    `the gateway, or what stands before it, answered with ${response.status}`,
    Number.isFinite(retryAfter) ? { retryAfter } : {},
  )
}

function problemIn(text: string): ErrorData | null {
  try {
    const problem = JSON.parse(text) as ErrorData | null
    return problem !== null && errorCodes.includes(problem.code) && typeof problem.detail === 'string' ? problem : null
  } catch {
    return null
  }
}
