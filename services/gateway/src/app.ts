import { randomUUID } from 'node:crypto'
import { limits, operations } from '@heddle/contracts'
import { type Clock, type Logger, ProjectSlots } from '@heddle/runtime'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Admit } from './admission/access.js'
import { Admission } from './admission/admission.js'
import { closeOrphanedResponses } from './admission/close-orphaned-responses.js'
import type { CheckOrigin } from './admission/loopback.js'
import { rejectMalformed, rejectOddRequests } from './admission/reject-malformed.js'
import { type ProjectLimits, RequestsUnderWay } from './admission/requests-under-way.js'
import type { Backend } from './backend.js'
import { routes } from './handlers/index.js'
import { takeJson } from './http/body.js'
import { EventStreams } from './http/events.js'
import { createNoSuchRoute } from './http/no-such-route.js'
import { createRefuse, headersOf } from './http/send-problem.js'
import { type CallerOf, type ClientOf, serveRoute } from './http/serve-route.js'
import { letGoOfSlowReader } from './http/slow-reader.js'
import { serveMcp } from './mcp/http.js'
import { Metrics } from './operate/metrics.js'
import { serveDocs, serveHealth } from './operate/own-routes.js'

export interface AppOptions {
  /** Who answers `/healthz`: how another process tells this one from a stranger on the same port. */
  readonly identity: Readonly<Record<string, unknown>>
  readonly log: Logger
  readonly clock: Clock
  readonly admit: Admit
  readonly checkOrigin: CheckOrigin
  /** What one project may have under way. */
  readonly projectLimits?: ProjectLimits | undefined
  /** @throws RetryableError `SERVICE_UNAVAILABLE` while there is none */
  backend(): Backend
}

export interface App {
  readonly server: FastifyInstance
  readonly streams: EventStreams
  readonly metrics: Metrics
}

/**
 * What one project has this process do at once. Beside others one piece of work where it asks for much: theirs shares the
 * event loop with that alone, and takes about twice as long as without it. Alone more than there are connections to the store. Each holds its answer in memory until that was taken.
 */
const SLOTS = { calm: 4, crowded: 1, alone: 8 }

/** Longest name in a path: each of its characters may be percent-encoded UTF-8. */
const PARAM_CHARACTERS_MAX = limits.nameCharactersMax * 9
/** How long the head of a request, and the whole of it, may be on their way. */
const HEAD_MS_MAX = 10_000
const REQUEST_MS_MAX = 60_000
/** An idle connection; longer than what proxies keep theirs for, so that they close first. */
const KEEP_ALIVE_MS = 72_000
const CONNECTIONS_MAX = 2_000

/** The routes with all that stands before and behind them, not listening yet. */
export async function createApp(options: AppOptions): Promise<App> {
  const { log, admit, checkOrigin, backend } = options
  const metrics = new Metrics()
  const streams = new EventStreams(options.clock)
  const requests = new RequestsUnderWay(options.projectLimits)
  const slots = new ProjectSlots({ ...SLOTS, clock: options.clock })
  const entrance = new Admission({
    admit,
    requests,
    checkShare: (project, share) => backend().checkShare(project, share),
  })
  const refuse = createRefuse({ log, clock: options.clock, metrics })
  const server = fastify({
    logger: false,
    bodyLimit: limits.httpSmallBodyBytesMax,
    requestTimeout: REQUEST_MS_MAX,
    // Whoever names no host is refused as those are who name another one, and not with a bare status.
    http: { requireHostHeader: false },
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    genReqId: ({ headers }) => requestIdOf(headers['x-request-id']),
    routerOptions: { maxParamLength: PARAM_CHARACTERS_MAX },
    clientErrorHandler: (error, socket) => rejectMalformed(error, socket),
    // A path that cannot be decoded gets no further than here, so no hook has seen it.
    frameworkErrors: (error, request, reply) => refuse(request, reply, foreignTo(request, checkOrigin) ?? error),
  })
  server.server.headersTimeout = HEAD_MS_MAX
  server.server.maxConnections = CONNECTIONS_MAX
  closeOrphanedResponses(server.server)
  rejectOddRequests(server.server)

  // First of all, for every route and for what is none.
  server.addHook('onRequest', async (request, reply) => {
    reply.headers(headersOf(request))
    checkOrigin(request.headers)
    await entrance.enter(request, request.routeOptions.bodyLimit ?? limits.httpSmallBodyBytesMax, reply.raw)
  })
  server.addHook('onSend', async (_request, reply) => {
    letGoOfSlowReader(reply.raw)
  })
  server.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    metrics.answered(request.method, route, reply.statusCode, reply.elapsedTime)
    // The pattern and never the path: that holds names, and a query what somebody looks for.
    const facts = { requestId: request.id, method: request.method, route, status: reply.statusCode }
    log.debug({ ...facts, durationMs: Math.round(reply.elapsedTime) }, 'request answered')
  })
  server.setErrorHandler((error, request, reply) => refuse(request, reply, error))
  const noSuchRoute = createNoSuchRoute(Object.values(operations))
  server.setNotFoundHandler((request, reply) => refuse(request, reply, noSuchRoute(request)))
  takeJson(server)

  const callerOf: CallerOf = async (request, needs) => {
    const { project, role } = await entrance.admit(request, needs)
    return { project, client: backend().clientOf(project), role }
  }
  const clientOf: ClientOf = async (request, needs) => (await callerOf(request, needs)).client
  for (const route of routes) serveRoute(server, route, { callerOf, slots })
  const { path, needs } = operations.followEvents
  const ofEvents = { exposeHeadRoute: false, config: { access: { needs, isCounted: false } } }
  server.get(path, ofEvents, async (request, reply) => {
    const { project, client } = await callerOf(request, needs)
    const isAdmitted = () => entrance.admitsStill(request, needs)
    await streams.answer(request, reply, { project, client, isAdmitted })
    return reply
  })
  serveMcp(server, {
    log,
    slots,
    requests,
    checkShare: (project, stage) => backend().checkShare(project, { stage, bytes: 0 }),
    async callerOf(request) {
      const { project, role } = await entrance.admit(request, 'any')
      return { project, client: backend().clientOf(project), role }
    },
  })
  serveHealth(server, { ...options, metrics, streams, clientOf })
  await serveDocs(server)
  return { server, streams, metrics }
}

/** Why a request is none of this server's affair, if that is so. */
function foreignTo({ headers }: FastifyRequest, checkOrigin: CheckOrigin): unknown {
  try {
    checkOrigin(headers)
    return null
  } catch (error) {
    return error
  }
}

/** A caller's own id of the request, where it can stand in a log as it is. */
function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID()
}
