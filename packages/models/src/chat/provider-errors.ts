import { HeddleError, PermanentError, RetryableError } from '@heddle/contracts'

/** The prompt was larger than the model's window. */
export class ContextOverflowError extends RetryableError {
  override name = 'ContextOverflowError'
  /** The window as reported by the provider; null if it did not report it. */
  readonly windowTokens: number | null
  /** Tokens of the prompt as counted by the provider; null if it did not report them. */
  readonly requestedTokens: number | null

  constructor(
    message: string,
    counts: { windowTokens: number | null; requestedTokens: number | null },
    cause: unknown,
  ) {
    super('SERVICE_UNAVAILABLE', message, { cause })
    this.windowTokens = counts.windowTokens
    this.requestedTokens = counts.requestedTokens
  }
}

/** The fields used of errors of both SDKs, which are recognized by these fields and not by class. */
interface ThrownBySdk {
  readonly name?: unknown
  readonly message?: unknown
  readonly status?: unknown
  readonly headers?: unknown
  readonly code?: unknown
}

export interface ErrorPlace {
  readonly provider: string
  readonly model: string
  /** The current time, in milliseconds since 1970, to which a date in `retry-after` is compared. */
  readonly nowMs: number
}

/**
 * Converts errors of an SDK to Heddle's, which say whether a retry helps. Of the provider's message only counts are used,
 * because it may quote the prompt.
 */
export function providerError(thrown: unknown, place: ErrorPlace): HeddleError {
  if (thrown instanceof HeddleError) return thrown
  const { message, status, headers, code } = (thrown ?? {}) as ThrownBySdk
  const who = `${place.provider} ${place.model}`
  const words = typeof message === 'string' ? message.slice(0, 4_000) : ''
  const details = { cause: thrown }
  if (typeof status !== 'number') {
    return new RetryableError('SERVICE_UNAVAILABLE', `${who} could not be reached, or the connection broke`, details)
  }
  if (
    (status === 400 || status === 413 || status === 422) &&
    (code === 'context_length_exceeded' || OVERFLOW.test(words))
  )
    return new ContextOverflowError(`the prompt was larger than the window of ${who}`, overflowCounts(words), thrown)
  if (status === 401 || status === 403) {
    const what = status === 401 ? ('UNAUTHORIZED' as const) : ('FORBIDDEN' as const)
    return new PermanentError(what, `${who} refused the key (${status})`, {
      ...details,
      hint: `Check the key of ${place.provider} in the environment; heddle doctor shows which one is used.`,
    })
  }
  if (status === 404) {
    return new PermanentError('NOT_FOUND', `${place.provider} does not know the model ${place.model} (404)`, {
      ...details,
      hint: 'Set summarizationModel, or for vectors HEDDLE_EMBEDDING_MODEL, to one of its models.',
    })
  }
  const retryAfter = retryAfterSeconds(headers, place.nowMs)
  const wait = retryAfter === null ? {} : { retryAfter }
  if (status === 429) return new RetryableError('RATE_LIMITED', `${who} is busy (429)`, { ...details, ...wait })
  if (status === 408) return new RetryableError('TIMEOUT', `${who} timed out (408)`, { ...details, ...wait })
  if (status >= 500 || status === 409) {
    return new RetryableError('SERVICE_UNAVAILABLE', `${who} failed (${status})`, { ...details, ...wait })
  }
  return new PermanentError('VALIDATION_ERROR', `${who} refused the request (${status})`, details)
}

const OVERFLOW =
  /context[ _-]?(length|window|size)|maximum context|prompt is too long|too many (input )?tokens|input (is )?too long|exceeds? the (model'?s )?(maximum|limit)|reduce the length/i

/** `... maximum context length is 8192 tokens ... 9200 tokens`, or `prompt is too long: 208310 tokens > 200000 maximum`. */
function overflowCounts(words: string): { windowTokens: number | null; requestedTokens: number | null } {
  const above = /(\d[\d,]{2,12})\s*(?:tokens\s*)?>\s*(\d[\d,]{2,12})/.exec(words)
  if (above) return { requestedTokens: numberIn(above[1]), windowTokens: numberIn(above[2]) }
  const window = /(?:maximum|limit|window|up to)\D{0,60}?(\d[\d,]{2,12})/i.exec(words)
  const requested =
    /(?:resulted in|requested|contains?|you sent|length is|has)\D{0,40}?(\d[\d,]{2,12}) (?:input )?tokens/gi
  const counts = [...words.matchAll(requested)].map((match) => numberIn(match[1]))
  const windowTokens = numberIn(window?.[1])
  return { windowTokens, requestedTokens: counts.find((count) => count !== null && count !== windowTokens) ?? null }
}

function numberIn(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits.replaceAll(',', ''))
}

/** Seconds from `retry-after-ms`, or from `retry-after` in seconds or as an HTTP date; null without one. */
export function retryAfterSeconds(headers: unknown, nowMs: number): number | null {
  if (!(headers instanceof Headers)) return null
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (milliseconds >= 0) return milliseconds / 1_000
  const text = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  const dateMs = Date.parse(text)
  return Number.isNaN(dateMs) ? null : Math.max(0, (dateMs - nowMs) / 1_000)
}
