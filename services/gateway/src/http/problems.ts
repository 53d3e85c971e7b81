import { type ErrorCode, type ErrorData, errorData, HeddleError, type Problem } from '@heddle/contracts'

/** Status and problem document (RFC 9457) of an error. */
export interface Refusal {
  readonly status: number
  readonly data: ErrorData
  /** Headers that belong to the status, such as `allow`. */
  readonly headers?: Readonly<Record<string, string>>
}

const statuses: Record<ErrorCode, number> = {
  VALIDATION_ERROR: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  AMBIGUOUS_REFERENCE: 409,
  PAYLOAD_TOO_LARGE: 413,
  BUDGET_TOO_SMALL: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  SERVICE_UNAVAILABLE: 503,
  TIMEOUT: 504,
}

const titles: Record<ErrorCode, string> = {
  VALIDATION_ERROR: 'The request is not valid',
  UNAUTHORIZED: 'Access was refused',
  FORBIDDEN: 'That is not allowed',
  NOT_FOUND: 'That does not exist',
  CONFLICT: 'That conflicts with stored data',
  AMBIGUOUS_REFERENCE: 'The reference matches more than one message',
  PAYLOAD_TOO_LARGE: 'That is too large',
  BUDGET_TOO_SMALL: 'The budget is too small',
  RATE_LIMITED: 'Too many requests',
  INTERNAL: 'Something unexpected went wrong',
  SERVICE_UNAVAILABLE: 'A server is unavailable',
  TIMEOUT: 'It took too long',
}

/** Default for retryable errors that set no delay. */
const RETRY_AFTER_SECONDS = 1

/**
 * Converts anything that a handler threw to its answer. Errors other than Heddle's own are not disclosed; the log has them
 * under the request's id.
 */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refused) return error
  if (!(error instanceof HeddleError)) return fastifyRefusal(error) ?? internal
  const data = errorData(error)
  // These two codes concern the caller only if a field is named. Otherwise a server refused Heddle itself.
  const isOwnAccess = (data.code === 'UNAUTHORIZED' || data.code === 'FORBIDDEN') && data.field === undefined
  if (isOwnAccess) return refuse({ ...data, code: 'SERVICE_UNAVAILABLE' })
  if (data.code === 'INTERNAL') return internal
  return refuse(data)
}

function refuse(data: ErrorData, status = statuses[data.code]): Refusal {
  const comesAgain = status === 429 || status === 503
  return { status, data: comesAgain ? { ...data, retryAfter: data.retryAfter ?? RETRY_AFTER_SECONDS } : data }
}

const internal: Refusal = refuse({
  code: 'INTERNAL',
  detail: 'the request failed unexpectedly; the log has details under its id',
})

/** A refusal with a status of its own, or with headers. */
export class Refused extends Error implements Refusal {
  override name = 'Refused'
  readonly status: number
  readonly data: ErrorData
  readonly headers: Readonly<Record<string, string>>

  constructor(data: ErrorData, { status, headers = {} }: { status?: number; headers?: Record<string, string> } = {}) {
    super(data.detail)
    const refusal = refuse(data, status)
    this.status = refusal.status
    this.data = refusal.data
    this.headers = headers
  }
}

/** Answers to Fastify's own errors, by code; see https://fastify.dev/docs/v5.12.x/Reference/Errors/. */
const fastifyErrors: Readonly<Record<string, { status?: number; data: ErrorData }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    data: { code: 'PAYLOAD_TOO_LARGE', detail: 'the body is larger than this route accepts', field: 'body' },
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    status: 415,
    data: {
      code: 'VALIDATION_ERROR',
      detail: 'content-type: must be application/json',
      field: 'content-type',
    },
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    data: {
      code: 'VALIDATION_ERROR',
      detail: 'content-length: must be the length of the body',
      field: 'content-length',
    },
  },
  FST_ERR_BAD_URL: {
    data: { code: 'VALIDATION_ERROR', detail: 'path: must be percent-encoded UTF-8', field: 'path' },
  },
  FST_ERR_MAX_PARAM_LENGTH_EXCEEDED: {
    status: 414,
    data: { code: 'VALIDATION_ERROR', detail: 'path: a part of it is too long', field: 'path' },
  },
}

function fastifyRefusal(error: unknown): Refusal | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const known = fastifyErrors[code]
  if (known !== undefined) return refuse(known.data, known.status)
  // An error of Fastify or a plugin, such as a connection that broke within the body.
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status < 400 || status > 499) return null
  return refuse({ code: 'VALIDATION_ERROR', detail: 'the request could not be read' }, status)
}

export function problemOf({ status, data }: Refusal, requestId: string): Problem {
  const { code, detail, field, received, retryAfter, hint, facts } = data
  return {
    type: `urn:heddle:problem:${code.toLowerCase().replaceAll('_', '-')}`,
    title: titles[code],
    status,
    code,
    detail,
    ...(field !== undefined && { field }),
    ...(received !== undefined && { received }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(hint !== undefined && { hint }),
    ...(facts !== undefined && { facts: { ...facts } }),
    requestId,
  }
}
