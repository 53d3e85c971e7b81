import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { type Finding, limits, operations, type Scaling } from '@heddle/contracts'
import { siteFolder } from '@heddle/inspector'
import { type Clock, type Logger, ProjectSlots } from '@heddle/runtime'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Admit } from './admission/access.js'
import { Admission } from './admission/admission.js'
import { closeOrphanedResponses } from './admission/close-orphaned-responses.js'
import { limitArrival } from './admission/limit-arrival.js'
import type { CheckOrigin } from './admission/loopback.js'
import { createMountDoor } from './admission/mount-door.js'
import { rejectMalformed, rejectOddRequests } from './admission/reject-malformed.js'
import { type ProjectLimits, RequestsUnderWay } from './admission/requests-under-way.js'
import type { Backend } from './backend.js'
import { routesOf } from './handlers/index.js'
import { takeJson } from './http/body.js'
import { EventStreams } from './http/events.js'
import { createNoSuchRoute } from './http/no-such-route.js'
import { RequestSpans } from './http/request-spans.js'
import { createRefuse, headersOf } from './http/send-problem.js'
import { type CallerOf, type ClientOf, serveRoute } from './http/serve-route.js'
import { disconnectSlowReader } from './http/slow-reader.js'
import { serveSessions } from './inspector/session-routes.js'
import { serveSite } from './inspector/site.js'
import { serveMcp } from './mcp/http.js'
import { type Mount, withMount } from './mount.js'
import { Metrics } from './operate/metrics.js'
import { serveDocs, serveHealth } from './operate/own-routes.js'
import { SharedRead } from './operate/shared-read.js'
import { StageSamples } from './operate/stage-samples.js'

/** How long a page of several readers gets the same checks: each run opens a connection and asks the models. */
const CHECKS_KEPT_MS = 2_000
/** So that any number of autoscalers costs the queues one read a second. */
const SCALING_KEPT_MS = 1_000

export interface AppOptions {
  /** Body of `/healthz`, by which another process recognizes this one on the port. */
  readonly identity: Readonly<Record<string, unknown>>
  readonly log: Logger
  readonly clock: Clock
  readonly admit: Admit
  readonly checkOrigin: CheckOrigin
  readonly isOpenToOthers: boolean
  /** Another service on the same port. */
  readonly mount?: Mount | undefined
  /** Serves the mount and the health of the process alone. Default false. */
  readonly isMountOnly?: boolean | undefined
  /** Limits for the running requests of one project. */
  readonly projectLimits?: ProjectLimits | undefined
  /** @throws RetryableError `SERVICE_UNAVAILABLE` while it is being opened */
  backend(): Backend
}

export interface App {
  readonly server: FastifyInstance
  readonly streams: EventStreams
  readonly metrics: Metrics
}

/**
 * Concurrent work of one project in this process. A project with heavy load beside others gets one slot: their work shares
 * the event loop with that one only, and takes about twice as long. A project that is alone gets more slots than the store
 * has connections. Each slot holds its answer in memory until the client has read it.
 */
const SLOTS = { calm: 4, crowded: 1, alone: 8 }

/** Longest name in a path: each of its characters may be percent-encoded UTF-8. */
const PARAM_CHARACTERS_MAX = limits.nameCharactersMax * 9
/** Longest time for receiving the headers of a request, and for the whole request. */
const HEAD_MS_MAX = 10_000
const REQUEST_MS_MAX = 60_000
/** Lifetime of an idle connection; longer than that of proxies, so that they close first. */
const KEEP_ALIVE_MS = 72_000
const CONNECTIONS_MAX = 2_000

/** Builds the server with its hooks and routes; it does not listen yet. */
export async function createApp(options: AppOptions): Promise<App> {
  const { log, admit, checkOrigin, backend } = options
  const metrics = new Metrics()
  const streams = new EventStreams(options.clock)
  const requests = new RequestsUnderWay(options.projectLimits)
  const spans = new RequestSpans()
  const slots = new ProjectSlots({ ...SLOTS, clock: options.clock })
  const entrance = new Admission({
    admit,
    requests,
    checkShare: (project, share) => backend().checkShare(project, share),
  })
  const refuse = createRefuse({ log, clock: options.clock, metrics })
  const door = createMountDoor({ ...options, requests })
  const server = fastify({
    logger: false,
    bodyLimit: limits.httpSmallBodyBytesMax,
    serverFactory: (listener) =>
      createServer(
        {
          // A request without `Host` is refused like one for another host, instead of Node's bare status.
          requireHostHeader: false,
          // Requests of the mount may take longer: files that are uploaded at the pace of an upstream.
          requestTimeout: 0,
          headersTimeout: HEAD_MS_MAX,
          keepAliveTimeout: KEEP_ALIVE_MS,
        },
        withMount(options.mount, door, limitArrival(listener, REQUEST_MS_MAX)),
      ),
    forceCloseConnections: 'idle',
    genReqId: ({ headers }) => requestIdOf(headers['x-request-id']),
    routerOptions: { maxParamLength: PARAM_CHARACTERS_MAX },
    clientErrorHandler: (error, socket) => rejectMalformed(error, socket),
    // A path that cannot be decoded is answered here, before any hook.
    frameworkErrors: (error, request, reply) => refuse(request, reply, foreignTo(request, checkOrigin) ?? error),
  })
  server.server.maxConnections = CONNECTIONS_MAX
  closeOrphanedResponses(server.server)
  rejectOddRequests(server.server)

  // Runs first, for unknown routes too.
  server.addHook('onRequest', async (request, reply) => {
    spans.begin(request)
    reply.headers(headersOf(request))
    checkOrigin(request.headers)
    await entrance.enter(request, request.routeOptions.bodyLimit ?? limits.httpSmallBodyBytesMax, reply.raw)
  })
  server.addHook('onSend', async (_request, reply) => {
    disconnectSlowReader(reply.raw)
  })
  server.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    metrics.answered(request.method, route, reply.statusCode, reply.elapsedTime)
    spans.end(request, reply)
    // The pattern and never the path: paths contain names, and queries contain search terms.
    const facts = { requestId: request.id, method: request.method, route, status: reply.statusCode }
    log.debug({ ...facts, durationMs: Math.round(reply.elapsedTime) }, 'request answered')
  })
  server.setErrorHandler((error, request, reply) => refuse(request, reply, error))
  const noSuchRoute = createNoSuchRoute(Object.values(operations))
  server.setNotFoundHandler((request, reply) => refuse(request, reply, noSuchRoute(request)))
  takeJson(server)

  const callerOf: CallerOf = async (request, needs) => {
    const rights = await entrance.admit(request, needs)
    const { project } = rights
    return { project, client: backend().clientOf(project), rights }
  }
  const clientOf: ClientOf = async (request, needs) => (await callerOf(request, needs)).client
  serveHealth(server, { ...options, metrics, streams, clientOf })
  if (options.isMountOnly === true) return { server, streams, metrics }
  const samples = new StageSamples({ clock: options.clock, log, readStats: () => backend().readStageStats() })
  server.addHook('onClose', async () => samples.close())
  const checks = new SharedRead<readonly Finding[]>(CHECKS_KEPT_MS, options.clock)
  const scaling = new SharedRead<Scaling>(SCALING_KEPT_MS, options.clock)
  const reads = {
    samples: () => samples.all,
    examine: () => checks.read(() => backend().examine()),
    scaling: (load: () => Promise<Scaling>) => scaling.read(load),
  }
  for (const route of routesOf(reads)) serveRoute(server, route, { callerOf, slots, spans })
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
    spans,
    slots,
    requests,
    checkShare: (project, stage) => backend().checkShare(project, { stage, bytes: 0 }),
    async callerOf(request) {
      const rights = await entrance.admit(request, 'any')
      const { project } = rights
      return { project, client: backend().clientOf(project), rights }
    },
  })
  await serveDocs(server)
  serveSessions(server, options)
  await serveSite(server, siteFolder)
  return { server, streams, metrics }
}

/** The error for a request with a foreign host or origin; undefined if it is acceptable. */
function foreignTo({ headers }: FastifyRequest, checkOrigin: CheckOrigin): unknown {
  try {
    checkOrigin(headers)
    return null
  } catch (error) {
    return error
  }
}

/** The caller's request id if it is safe to log, else a new one. */
function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID()
}
