import { describeAtPlace } from './primitives/redact-input.js'

/**
 * The errors for Heddle's callers. The class determines the next step: a plain throw means "try again", a {@link
 * PermanentError} means "never try again", a {@link ConflictError} means that the request contradicts stored data.
 */
export const errorCodes = [
  'VALIDATION_ERROR',
  'NOT_FOUND',
  'CONFLICT',
  'AMBIGUOUS_REFERENCE',
  'PAYLOAD_TOO_LARGE',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'BUDGET_TOO_SMALL',
  'TIMEOUT',
  'SERVICE_UNAVAILABLE',
  'INTERNAL',
] as const

export type ErrorCode = (typeof errorCodes)[number]

/** How a stage handles a job whose handler threw. */
export type Disposition = 'retry' | 'give-up' | 'conflict'

export interface ErrorDetails {
  /** The invalid field, as a path: `messages.3.content`. */
  field?: string
  /** The received value, shortened; never message contents or secrets. */
  received?: string
  /** Seconds after which a retry is useful. */
  retryAfter?: number
  /** Advice for the person who sees the error. */
  hint?: string
  /** Facts for programs, such as the candidates of an ambiguous reference. */
  facts?: Readonly<Record<string, unknown>>
  cause?: unknown
}

/** The form in which an error crosses a process boundary: a reply, a row, a line of `--json` output. */
export interface ErrorData {
  code: ErrorCode
  detail: string
  field?: string
  received?: string
  retryAfter?: number
  hint?: string
  facts?: Readonly<Record<string, unknown>>
}

export class HeddleError extends Error {
  override name = 'HeddleError'
  readonly code: ErrorCode
  readonly disposition: Disposition
  readonly field: string | undefined
  readonly received: string | undefined
  readonly retryAfter: number | undefined
  readonly hint: string | undefined
  readonly facts: Readonly<Record<string, unknown>> | undefined

  constructor(code: ErrorCode, message: string, disposition: Disposition, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.disposition = disposition
    this.field = details.field
    this.received = details.received
    this.retryAfter = details.retryAfter
    this.hint = details.hint
    this.facts = details.facts
  }

  toJSON(): ErrorData {
    return {
      code: this.code,
      detail: this.message,
      ...(this.field !== undefined && { field: this.field }),
      ...(this.received !== undefined && { received: this.received }),
      ...(this.retryAfter !== undefined && { retryAfter: this.retryAfter }),
      ...(this.hint !== undefined && { hint: this.hint }),
      ...(this.facts !== undefined && { facts: this.facts }),
    }
  }
}

/** A retry cannot help: the input is invalid, or its target no longer exists. */
export class PermanentError extends HeddleError {
  override name = 'PermanentError'
  constructor(code: ErrorCode, message: string, details?: ErrorDetails) {
    super(code, message, 'give-up', details)
  }
}

/** The request contradicts stored data: another message under a used id, a publication that lost its race. */
export class ConflictError extends HeddleError {
  override name = 'ConflictError'
  constructor(message: string, details?: ErrorDetails) {
    super('CONFLICT', message, 'conflict', details)
  }
}

/** A temporary external failure: a server is down, a model is busy, a wait timed out. */
export class RetryableError extends HeddleError {
  override name = 'RetryableError'
  constructor(
    code: 'SERVICE_UNAVAILABLE' | 'RATE_LIMITED' | 'TIMEOUT' | 'INTERNAL',
    message: string,
    details?: ErrorDetails,
  ) {
    super(code, message, 'retry', details)
  }
}

/**
 * A value that breaks a rule.
 *
 * @param field its path: `messages.3.content`
 * @param received the value; the error shows no more of it than is needed to find it
 */
export function validationError(field: string, rule: string, received: unknown, hint?: string): PermanentError {
  return new PermanentError('VALIDATION_ERROR', `${field}: ${rule}`, {
    field,
    received: describeAtPlace(field.split('.'), received),
    ...(hint !== undefined && { hint }),
  })
}

/** No object of this name exists. @param kind the type of the object, such as `thread` */
export function notFound(kind: string, name: string, hint?: string): PermanentError {
  return new PermanentError('NOT_FOUND', `${kind} "${name}" was not found`, {
    field: kind,
    received: name,
    ...(hint !== undefined && { hint }),
  })
}

/** Converts any thrown value into the form in which it is stored and sent. Unexpected errors become `INTERNAL`. */
export function errorData(error: unknown): ErrorData {
  if (error instanceof HeddleError) return error.toJSON()
  return { code: 'INTERNAL', detail: error instanceof Error ? error.message : String(error) }
}

/** The reverse of {@link errorData}: an error received from another process, to be thrown. */
export function errorFromData(data: ErrorData): HeddleError {
  const details: ErrorDetails = {
    ...(data.field !== undefined && { field: data.field }),
    ...(data.received !== undefined && { received: data.received }),
    ...(data.retryAfter !== undefined && { retryAfter: data.retryAfter }),
    ...(data.hint !== undefined && { hint: data.hint }),
    ...(data.facts !== undefined && { facts: data.facts }),
  }
  switch (data.code) {
    case 'CONFLICT':
      return new ConflictError(data.detail, details)
    case 'SERVICE_UNAVAILABLE':
    case 'RATE_LIMITED':
    case 'TIMEOUT':
    case 'INTERNAL':
      return new RetryableError(data.code, data.detail, details)
    default:
      return new PermanentError(data.code, data.detail, details)
  }
}
