import type { ServerResponse } from 'node:http'
import type { Client } from '@heddle/client/interface'
import { holdsLongText, jsonSteps, limits, type Permission, RetryableError, type Rights } from '@heddle/contracts'
import { type ProjectSlots, runCooperatively, within } from '@heddle/runtime'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RequestSpans } from './request-spans.js'
import type { Route } from './route.js'
import { streamLines } from './stream-lines.js'

/** Returns the client of the caller's project after checking the permission. */
export type ClientOf = (request: FastifyRequest, needs: Permission) => Promise<Client>

/** Client and rights of a caller: over MCP each tool has its own permission, and some routes do more for some roles. */
export interface Caller {
  readonly project: string
  readonly client: Client
  readonly rights: Rights
}

/** Like {@link ClientOf}, with the rights of the caller. */
export type CallerOf = (request: FastifyRequest, needs: Permission) => Promise<Caller>

export interface RouteDeps {
  readonly callerOf: CallerOf
  /** For work that this process does itself; work done by workers is limited by the project's share of them. */
  readonly slots: ProjectSlots
  readonly spans: Pick<RequestSpans, 'run'>
}

/** Serves an operation: admits the caller before the body is read, and times out. */
export function serveRoute(
  server: FastifyInstance,
  { operation, answer }: Route,
  { callerOf, slots, spans }: RouteDeps,
): void {
  const { method, path, needs, stage, bodyBytesMax, bodyMediaType, answers } = operation
  const mediaType = answers[200]?.mediaType
  server.route({
    method,
    url: path,
    config: { access: { needs, isCounted: true, stage }, bodyMediaType },
    bodyLimit: bodyBytesMax,
    async handler(request, reply) {
      const { params, query, body, headers } = request
      const { project, client, rights } = await callerOf(request, needs)
      const isSlotHeld = stage === undefined && mediaType === undefined
      const given = await withinBounds(reply.raw, async (signal) => {
        if (isSlotHeld) await holdSlot(reply.raw, slots.acquire(project, signal))
        const answered = await spans.run(request, () =>
          answer({ params, query, body, headers, client, rights, signal }),
        )
        if (mediaType === undefined) return answered
        const lines = answered.body as AsyncIterable<string>
        return { ...answered, body: await streamLines(lines, (work) => slots.run(project, work)) }
      })
      reply.code(given.status).headers(given.headers ?? {})
      if (mediaType !== undefined) return reply.type(mediaType).send(given.body)
      if (!holdsLongText(given.body)) return given.body
      // Serializing megabytes of JSON blocks this process for all other callers.
      reply.type('application/json; charset=utf-8')
      return await runCooperatively(jsonSteps(given.body))
    },
  })
}

/** Holds a slot until the client has read the answer, which is in memory until then. */
export async function holdSlot(response: ServerResponse, acquired: Promise<() => void>): Promise<void> {
  const release = await acquired
  if (response.closed) release()
  else response.once('close', release)
}

/** A little more than the longest wait that a caller may choose. */
const ANSWER_MS_MAX = limits.waitMsMax + 10_000

/** Aborts work after a time limit, or when the caller disconnects. */
async function withinBounds<T>(response: ServerResponse, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController()
  const onClose = () => ending.abort(new RetryableError('TIMEOUT', 'the caller has disconnected'))
  response.once('close', onClose)
  const late = () => {
    const error = new RetryableError('TIMEOUT', 'the answer took too long')
    ending.abort(error)
    throw error
  }
  try {
    return await within(work(ending.signal), { timeoutMs: ANSWER_MS_MAX, late })
  } finally {
    response.off('close', onClose)
  }
}
