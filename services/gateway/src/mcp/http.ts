import type { ServerResponse } from 'node:http'
import { limits } from '@heddle/contracts'
import type { NewShare } from '@heddle/queue'
import { Limiter, type Logger, type ProjectSlots } from '@heddle/runtime'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RequestsUnderWay } from '../admission/requests-under-way.js'
import type { RequestSpans } from '../http/request-spans.js'
import { type Caller, holdSlot } from '../http/serve-route.js'
import { disconnectSlowReaderFromHead } from '../http/slow-reader.js'
import { createMcpServer, type Share } from './server.js'
import { McpSessions } from './session.js'

export interface McpDeps {
  callerOf(request: FastifyRequest): Promise<Caller>
  readonly log: Logger
  readonly slots: ProjectSlots
  readonly requests: RequestsUnderWay
  readonly spans: Pick<RequestSpans, 'run'>
  /** @throws RetryableError `RATE_LIMITED` if the project has used up its share of the stage */
  checkShare(project: string, stage: NewShare['stage']): void
}

/**
 * MCP over Streamable HTTP: each request has its own server and transport, which end with it, so callers share none. Between
 * the requests of a client only its session remains, which holds the name of a thread.
 */
export function serveMcp(
  server: FastifyInstance,
  { callerOf, log, slots, requests, spans, checkShare }: McpDeps,
): void {
  const sessions = new McpSessions()
  const access = { needs: 'any', isCounted: true } as const
  server.post('/mcp', { bodyLimit: limits.httpBodyBytesMax, config: { access } }, async (request, reply) => {
    const { project, client, rights } = await callerOf(request)
    const others = Array.isArray(request.body) ? request.body.length - 1 : 0
    for (let call = 0; call < others; call++) requests.enter({ project, bytes: 0, bodyBytes: 0 }, reply.raw)
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
    const share = shareOf(reply.raw, {
      acquire: (signal) => slots.acquire(project, signal),
      check: (stage) => checkShare(project, stage),
    })
    const session = sessions.of(request, reply, project)
    const mcp = createMcpServer({ client, rights, log, share, session })
    reply.raw.once('close', () => {
      mcp.close().catch((error: unknown) => log.debug({ error }, 'closing an MCP server failed'))
    })
    await mcp.connect(transport as never)
    disconnectSlowReaderFromHead(reply.raw)
    for (const [name, value] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value as string)
    reply.hijack()
    await spans.run(request, () => transport.handleRequest(request.raw, reply.raw, request.body))
    return reply
  })
}

/**
 * The calls of one HTTP request share one slot, in which they run one after the other; it is held until the client has read
 * the answer to all of them.
 */
function shareOf(
  response: ServerResponse,
  { acquire, check }: { acquire(signal: AbortSignal): Promise<() => void>; check(stage: NewShare['stage']): void },
): Share {
  let held: Promise<void> | undefined
  const oneByOne = new Limiter({ atOnce: 1 })
  return async (work, { stage, signal }) => {
    if (stage !== undefined) {
      check(stage)
      return await work()
    }
    held ??= holdSlot(response, acquire(signal))
    await held
    return await oneByOne.run(work)
  }
}
