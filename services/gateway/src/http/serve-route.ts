import type { ServerResponse } from 'node:http'
import type { Client } from '@heddle/client/interface'
import { type AccessRole, holdsLongText, jsonSteps, limits, type Permission, RetryableError } from '@heddle/contracts'
import { type ProjectSlots, runCooperatively, within } from '@heddle/runtime'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Route } from './route.js'
import { streamLines } from './stream-lines.js'

/** The client of the project that a request is about, once its caller may do what it asks for. */
export type ClientOf = (request: FastifyRequest, needs: Permission) => Promise<Client>

/** Who asks: over MCP each tool has its own permission, and some routes do more for some. */
export interface Caller {
  readonly project: string
  readonly client: Client
  readonly role: AccessRole
}

/** The same with what the caller is. */
export type CallerOf = (request: FastifyRequest, needs: Permission) => Promise<Caller>

export interface RouteDeps {
  readonly callerOf: CallerOf
  /** For what this process does itself; what waits for workers has a share of those. */
  readonly slots: ProjectSlots
}

/** Answers an operation: its caller was let in before the body was read; it parses, and gives up in time. */
export function serveRoute(
  server: FastifyInstance,
  { operation, answer }: Route,
  { callerOf, slots }: RouteDeps,
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
      const { project, client, role } = await callerOf(request, needs)
      const isSlotHeld = stage === undefined && mediaType === undefined
      const given = await withinBounds(reply.raw, async (signal) => {
        if (isSlotHeld) await holdSlot(reply.raw, slots.acquire(project, signal))
        const answered = await answer({ params, query, body, headers, client, role, signal })
        if (mediaType === undefined) return answered
        const lines = answered.body as AsyncIterable<string>
        return { ...answered, body: await streamLines(lines, (work) => slots.run(project, work)) }
      })
      reply.code(given.status).headers(given.headers ?? {})
      if (mediaType !== undefined) return reply.type(mediaType).send(given.body)
      if (!holdsLongText(given.body)) return given.body
      // Contents of megabytes take long to spell as JSON, and others wait for this process.
      reply.type('application/json; charset=utf-8')
      return await runCooperatively(jsonSteps(given.body))
    },
  })
}

/** Until the answer was taken, too: it is in memory meanwhile. */
export async function holdSlot(response: ServerResponse, acquired: Promise<() => void>): Promise<void> {
  const release = await acquired
  if (response.closed) release()
  else response.once('close', release)
}

/** A little more than what a caller may choose to wait. */
const ANSWER_MS_MAX = limits.waitMsMax + 10_000

/** Nobody waits for ever, and nothing is done for a caller who has gone. */
async function withinBounds<T>(response: ServerResponse, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController()
  const onClose = () => ending.abort(new RetryableError('TIMEOUT', 'the caller has gone'))
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
