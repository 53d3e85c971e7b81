import type { Clock, Logger } from '@heddle/runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { RefusalLog } from '../admission/refusal-log.js'
import type { Metrics } from '../operate/metrics.js'
import { problemOf, refusalOf } from './problems.js'

/** Answers an error with its problem document, counts it, and logs it without anything that the caller wrote. */
export type Refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown) => FastifyReply

export function createRefuse({ log, clock, metrics }: { log: Logger; clock: Clock; metrics: Metrics }): Refuse {
  const refusals = new RefusalLog(log, clock)
  return (request, reply, error) => {
    const refusal = refusalOf(error)
    const { status, data, headers = {} } = refusal
    metrics.refused(data.code)
    const facts = { requestId: request.id, method: request.method, route: request.routeOptions?.url, status }
    if (status === 500) log.error({ ...facts, error }, 'request failed')
    // The field is not logged: an unknown field is named as the caller wrote it.
    else refusals.write({ ...facts, code: data.code, address: request.ip })
    return reply
      .code(status)
      .headers({
        ...headersOf(request),
        ...headers,
        ...(data.retryAfter !== undefined && { 'retry-after': seconds(data.retryAfter) }),
      })
      .type('application/problem+json')
      .send(JSON.stringify(problemOf(refusal, request.id)))
  }
}

/** Headers of every answer. */
export function headersOf({ id }: FastifyRequest): Record<string, string> {
  return { 'x-request-id': id, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
}

function seconds(retryAfter: number): string {
  return String(Math.max(1, Math.ceil(retryAfter)))
}
