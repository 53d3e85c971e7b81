import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RetryableError } from '@heddle/contracts'
import type { Settled } from '@heddle/queue'
import { type Clock, type Logger, portError, systemClock } from '@heddle/runtime'
import { createAdmit } from './admission/access.js'
import { createCheckOrigin, isLoopback } from './admission/loopback.js'
import type { ProjectLimits } from './admission/requests-under-way.js'
import { createApp } from './app.js'
import type { Backend } from './backend.js'

export interface GatewayOptions {
  /** Default 127.0.0.1. On an address that others reach, nobody is let in without a key. */
  readonly host?: string
  /** Names by which others ask it, such as that of a proxy before it; with any, nobody is let in without a key. */
  readonly hosts?: readonly string[]
  /** 0 takes any free port. */
  readonly port: number
  /** The project of those who need no key. */
  readonly project: string
  /** Shown at `/healthz`. */
  readonly identity: Readonly<Record<string, unknown>>
  readonly log: Logger
  readonly clock?: Clock
  /** What one project may have under way. Default 256 requests, 1,024 while it is alone, and 128 MiB. */
  readonly projectLimits?: ProjectLimits
  /** Null while what it answers from is still being opened: until then it only tells how it stands. */
  backend(): Backend | null
}

export interface Gateway {
  readonly port: number
  /** `http://127.0.0.1:4680` */
  readonly url: string
  /** Counts a try of a job for `/metrics`. */
  readonly recordTry: (settled: Settled) => void
  /**
   * Takes nothing new, ends the streams of events, and waits for the answers under way. `/healthz` and `/readyz` are
   * answered on.
   */
  drain(): Promise<void>
  /** Drains, and closes every connection. Bounded; never rejects. */
  close(): Promise<void>
}

/** How long answers that are under way may take once it closes. */
const DRAIN_MS_MAX = 5_000
const RETRY_AFTER_SECONDS = 1

/**
 * Serves HTTP.
 *
 * @throws PermanentError `CONFLICT` where the port is in use, `FORBIDDEN` where it may not be opened
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { host = '127.0.0.1', hosts = [], port, project, identity, log, clock = systemClock } = options
  let isStopping = false
  const backend = (): Backend => {
    const opened = isStopping ? null : options.backend()
    if (opened !== null) return opened
    throw new RetryableError('SERVICE_UNAVAILABLE', isStopping ? 'Heddle is stopping' : 'Heddle is still starting', {
      retryAfter: RETRY_AFTER_SECONDS,
    })
  }
  const { server, streams, metrics } = await createApp({
    identity,
    log,
    clock,
    admit: createAdmit({ project, isOpenToOthers: isOpenToOthers({ host, hosts }), clock, keys: () => backend().keys }),
    checkOrigin: createCheckOrigin({ hosts, addresses: !isLoopback(host) }),
    projectLimits: options.projectLimits,
    backend,
  })
  const answers = countAnswers(server.server)
  try {
    await server.listen({ host, port })
  } catch (error) {
    await server.close()
    throw portError(host, port, error)
  }
  const address = server.server.address() as AddressInfo
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address

  async function drain(): Promise<void> {
    isStopping = true
    streams.close()
    await answers.none(DRAIN_MS_MAX)
  }

  return {
    port: address.port,
    url: `http://${shown}:${address.port}`,
    recordTry: (settled) => metrics.settled(settled),
    drain,
    async close() {
      await drain()
      server.server.closeAllConnections()
      await server.close().catch((error: unknown) => log.warn({ error }, 'the gateway did not close well'))
    },
  }
}

/** Whether anybody but this machine may be asking; then nobody is let in without a key. */
export function isOpenToOthers({ host, hosts }: { host: string; hosts: readonly string[] }): boolean {
  return !isLoopback(host) || hosts.length > 0
}

/** The answers that are under way, for whoever waits until there are none. */
function countAnswers(server: Server): { none(withinMs: number): Promise<void> } {
  let underWay = 0
  let whenNone = () => {}
  server.on('request', (_request, response) => {
    underWay++
    response.once('close', () => {
      underWay--
      if (underWay === 0) whenNone()
    })
  })
  return {
    async none(withinMs) {
      if (underWay === 0) return
      const stop = new AbortController()
      await new Promise<void>((resolve) => {
        whenNone = resolve
        systemClock.wait(withinMs, stop.signal).then(resolve, () => {})
      })
      stop.abort()
    },
  }
}
