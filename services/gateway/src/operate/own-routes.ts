import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { operations } from '@heddle/contracts'
import type { Logger } from '@heddle/runtime'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isLoopback } from '../admission/loopback.js'
import type { Backend } from '../backend.js'
import type { EventStreams } from '../http/events.js'
import { Refused } from '../http/problems.js'
import type { ClientOf } from '../http/serve-route.js'
import type { Mount } from '../mount.js'
import type { Metrics } from './metrics.js'
import { openApiDocument } from './openapi.js'

export interface OwnRoutesOptions {
  readonly identity: Readonly<Record<string, unknown>>
  readonly log: Logger
  readonly metrics: Metrics
  readonly streams: EventStreams
  readonly clientOf: ClientOf
  readonly mount?: Mount | undefined
  backend(): Backend
}

const DEAD_LETTERS_READ_MAX = 1_000

/** Serves the health of the process, for its supervisor. */
export function serveHealth(server: FastifyInstance, options: OwnRoutesOptions): void {
  const { identity, log, metrics, streams, clientOf, mount, backend } = options
  // The identity of the process is shown to this machine only.
  server.get('/healthz', async ({ ip, hostname }) => ({
    status: 'ok',
    ...(isLoopback(ip) && isLoopback(hostname.replace(/^\[|\]$/g, '')) && identity),
  }))
  server.get('/readyz', async () => {
    await backend().checkReady()
    return { status: 'ready' }
  })
  server.get('/metrics', async (request, reply) => {
    reply.type(metrics.contentType)
    return `${await readMetrics(request)}${(await mount?.readMetrics()) ?? ''}`
  })

  async function readMetrics(request: FastifyRequest): Promise<string> {
    const known = { deadLetters: [], streams: streams.size }
    try {
      const client = await clientOf(request, 'read')
      const [stages, deadLetters] = await Promise.all([
        backend().readStageStats(),
        client.deadLetters.list({ limit: DEAD_LETTERS_READ_MAX }),
      ])
      return await metrics.read(stages, { ...known, deadLetters, models: backend().readModelCalls() })
    } catch (error) {
      if (error instanceof Refused) throw error
      // While the queues are unreachable, the figures of the process itself are still useful.
      log.debug({ error }, 'reading the figures of the stages failed')
      return await metrics.read(null, known)
    }
  }
}

/** The docs page loads everything from this server, so all other sources are forbidden. */
const DOCS_CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** Serves the OpenAPI document and its page. */
export async function serveDocs(server: FastifyInstance): Promise<void> {
  const document = openApiDocument(operations)
  server.get('/openapi.json', async () => document)
  await server.register(swagger, { mode: 'static', specification: { document: document as never } })
  await server.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: DOCS_CONTENT_POLICY,
    uiConfig: { validatorUrl: null },
    theme: { title: 'Heddle' },
  })
}
