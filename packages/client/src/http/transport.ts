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
import { type OpenTelemetryApi, withClientSpan } from './client-span.js'
import type { Incoming, Send } from './send.js'
import { textsOf } from './texts.js'

export interface TransportOptions {
  /** The gateway's URL: `https://heddle.example`, with the path of a proxy; `/v1` at its end is optional. */
  readonly url: string
  /** A key of the project; absent if the gateway requires no key. */
  readonly key?: string
  /** Default timeout of a call, in milliseconds. Default 30,000. */
  readonly deadlineMs?: number
  /** Default: persistent connections on Node, elsewhere the platform's `fetch`. */
  readonly fetch?: typeof fetch
  /**
   * The module `@opentelemetry/api` of a program that traces its work: calls are then spans of its traces, which continue at
   * the gateway. Default: calls are not traced.
   */
  readonly telemetry?: OpenTelemetryApi
}

export interface Call {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** From `/v1` on, with encoded names. */
  readonly path: string
  /** The same with the names of its parameters, for traces. */
  readonly route?: string
  /** Lists are joined by commas. */
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  /** For a text body, which is sent unchanged. Default JSON. */
  readonly bodyMediaType?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly deadlineMs?: number | undefined
  /** The preference of an attempt (RFC 7240), by the remaining time. */
  readonly prefer?: ((leftMs: number, isFirstTry: boolean) => string) | undefined
  readonly signal?: AbortSignal | undefined
  /** `again`: repeating the request has no further effect. `refused`: repeated only if it was certainly not started. */
  readonly retry: 'again' | 'refused' | 'never'
}

/** An answer; the caller gives it the type of its operation. */
export interface Answered<Body, Status = number> {
  readonly status: Status
  readonly body: Body
}

export const DEADLINE_MS_DEFAULT = 30_000
/** Time for the arrival of an answer sent at the end of its wait, which contains the reason. */
const GRACE_MS = 500

/** Sends requests, repeats them if that is useful and safe, and converts refusals to the original errors. */
export class Transport {
  readonly #options: TransportOptions
  readonly #base: string
  readonly #closing: AbortSignal | undefined

  /** @throws PermanentError `VALIDATION_ERROR` for an invalid URL */
  constructor(options: TransportOptions, closing?: AbortSignal) {
    const url = URL.canParse(options.url) ? new URL(options.url) : null
    if (url === null || !/^https?:$/.test(url.protocol)) {
      throw validationError('url', 'must be an address such as http://127.0.0.1:4680', options.url)
    }
    this.#options = options
    this.#closing = closing
    // Many pass the URL of the routes, as for clients of model providers.
    this.#base = url.href.replace(/\/+$/, '').replace(/\/v1$/, '')
  }

  /**
   * @throws PermanentError `VALIDATION_ERROR` for an invalid deadline; HeddleError with the gateway's code for a
   * refusal
   * @throws RetryableError `SERVICE_UNAVAILABLE` if no server answers, `TIMEOUT` at the deadline; the signal's reason
   */
  async call<Body>(given: Call): Promise<Answered<Body>> {
    const call = { ...given, signal: this.#untilClosed(given.signal) }
    call.signal?.throwIfAborted()
    const deadlineMs = call.deadlineMs ?? this.#options.deadlineMs ?? DEADLINE_MS_DEFAULT
    checkDeadline(deadlineMs)
    const { method, route = 'other' } = call
    return await withClientSpan(this.#options.telemetry, { method, route }, (headers) =>
      this.#repeat<Body>({ ...call, headers: { ...call.headers, ...headers } }, performance.now() + deadlineMs),
    )
  }

  async #repeat<Body>(call: Call, endsAtMs: number): Promise<Answered<Body>> {
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

  /** Opens a stream of texts, which ends only by its signal, with the client, or by the server. */
  async open(call: Pick<Call, 'path' | 'query' | 'headers' | 'signal'>): Promise<AsyncIterable<string>> {
    const { fetch: send = fetch } = this.#options
    const signal = this.#untilClosed(call.signal) ?? new AbortController().signal
    return textsOf(await this.#send({ ...call, method: 'GET', retry: 'never' }, signal, send), signal)
  }

  #untilClosed(signal: AbortSignal | undefined): AbortSignal | undefined {
    if (signal === undefined || this.#closing === undefined) return signal ?? this.#closing
    return AbortSignal.any([signal, this.#closing])
  }

  async #once<Body>(call: Call, endsAtMs: number, isFirstTry: boolean): Promise<Answered<Body>> {
    const leftMs = Math.max(1, endsAtMs - performance.now())
    const stopping = new AbortController()
    const answer = this.#exchange<Body>(call, call.prefer?.(leftMs, isFirstTry), stopping.signal)
    const late = () => new RetryableError('TIMEOUT', 'no answer was received before the deadline')
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
        // A key is not sent to another server.
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

/** Asks the gateway to delay its answer: in whole seconds, according to RFC 7240. */
export function preferWait(leftMs: number): string {
  return `wait=${Math.min(Math.max(1, Math.ceil(leftMs / 1_000)), limits.waitMsMax / 1_000)}`
}

function mayRetry({ retry }: Call, error: unknown): boolean {
  if (retry === 'never' || !isWorthRetrying(error)) return false
  const { code } = error as HeddleError
  // These two are refused before any work; after other errors, work may have started.
  return retry === 'again' || code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE'
}

function unanswered(cause: unknown): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', 'the gateway does not answer', {
    hint: 'Check whether it runs: GET /healthz',
    cause,
  })
}

/** A problem document is converted to the original error; a proxy may answer in another form. */
async function refusalOf(response: Incoming): Promise<HeddleError> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const text = await response.text().catch(() => '')
  const problem = problemIn(text)
  if (problem !== null) return errorFromData(problem)
  return new RetryableError(
    response.status === 429 ? 'RATE_LIMITED' : 'SERVICE_UNAVAILABLE',
    `the gateway, or a proxy before it, answered with ${response.status}`,
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
