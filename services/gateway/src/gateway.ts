import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type PrunedCounts, RetryableError } from '@heddle/contracts'
import type { Settled } from '@heddle/queue'
import { type Clock, type Logger, portError, systemClock } from '@heddle/runtime'
import { createAdmit } from './admission/access.js'
import { createCheckOrigin, isLoopback } from './admission/loopback.js'
import type { ProjectLimits } from './admission/requests-under-way.js'
import { createApp } from './app.js'
import type { Backend } from './backend.js'
import type { Mount } from './mount.js'

export interface GatewayOptions {
  /** Default 127.0.0.1. On an address that other machines reach, every caller needs a key. */
  readonly host?: string
  /** Names under which others reach it, such as that of a proxy; if there are any, every caller needs a key. */
  readonly hosts?: readonly string[]
  /** 0 selects any free port. */
  readonly port: number
  /** The project of callers without a key. */
  readonly project: string
  /** Shown at `/healthz`. */
  readonly identity: Readonly<Record<string, unknown>>
  readonly log: Logger
  readonly clock?: Clock
  /** Limits for the running requests of one project. Default 256 requests, 1,024 while it is alone, and 128 MiB. */
  readonly projectLimits?: ProjectLimits
  /** Another service on the same port. */
  readonly mount?: Mount | undefined
  /** Serves the mount and the health of the process alone. Default false. */
  readonly isMountOnly?: boolean | undefined
  /** Null while the backend is being opened; until then only health checks and the mount are answered. */
  backend(): Backend | null
}

export interface Gateway {
  readonly port: number
  /** `http://127.0.0.1:4680` */
  readonly url: string
  /** Counts an attempt of a job for `/metrics`. */
  readonly recordTry: (settled: Settled) => void
  /** The text of `/metrics`, without the dead letters: those are of the project of a caller. */
  readMetrics(): Promise<string>
  /** Counts compactions for `/metrics`. */
  readonly recordPruned: (counts: PrunedCounts) => void
  /**
   * Accepts no new requests, ends the event streams, and waits for running requests. `/healthz` and `/readyz` are still
   * answered.
   */
  drain(): Promise<void>
  /** Drains, and closes every connection. Bounded; never rejects. */
  close(): Promise<void>
}

/** Longest wait for running requests when the gateway closes. */
const DRAIN_MS_MAX = 5_000
const RETRY_AFTER_SECONDS = 1

/**
 * Serves HTTP.
 *
 * @throws PermanentError `CONFLICT` if the port is in use, `FORBIDDEN` if it may not be opened
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
    isOpenToOthers: isOpenToOthers({ host, hosts }),
    mount: options.mount,
    isMountOnly: options.isMountOnly,
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
    async readMetrics() {
      const opened = options.backend()
      // Without the stages while the queues are unreachable.
      const stages = (await opened?.readStageStats().catch(() => null)) ?? null
      const known = { deadLetters: null, streams: streams.size }
      const own = await metrics.read(stages, opened === null ? known : { ...known, models: opened.readModelCalls() })
      return `${own}${(await options.mount?.readMetrics()) ?? ''}`
    },
    recordTry: (settled) => metrics.settled(settled),
    recordPruned: (counts) => metrics.pruned(counts),
    drain,
    async close() {
      await drain()
      server.server.closeAllConnections()
      await server.close().catch((error: unknown) => log.warn({ error }, 'closing the gateway failed'))
    },
  }
}

/** Whether other machines can reach the gateway; then every caller needs a key. */
export function isOpenToOthers({ host, hosts }: { host: string; hosts: readonly string[] }): boolean {
  return !isLoopback(host) || hosts.length > 0
}

/** Counts running responses, so that closing can wait until all of them have ended. */
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
