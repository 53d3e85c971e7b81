import { tmpdir } from 'node:os'
import { projectIdOf } from '@heddle/core'
import { createClient, DirectAppends, KnownContexts } from '@heddle/engine'
import { startGateway } from '@heddle/gateway'
import { proxyBackendOf, startTelemetry } from '@heddle/host'
import { gatewayBackendOf } from '@heddle/host/gateway'
import { createProxy } from '@heddle/proxy'
import { openQueues, type QueuesOptions } from '@heddle/queue'
import { createLogger, limitHeapGrowth, loadConfig, systemClock } from '@heddle/runtime'
import { openStore, type StoreOptions } from '@heddle/store'
import { LoopDelay } from './loop-delay.js'

/** The first message to the process: the gateway's parameters. It answers with its address. */
export interface GatewayOrder {
  readonly databaseUrl: string
  readonly databases?: StoreOptions['databases'] | undefined
  readonly queue: QueuesOptions['backend']
  readonly prefix: string
  /** Address of a provider that speaks Anthropic's protocol, to which the proxy sends requests; no proxy without it. */
  readonly upstream?: string | undefined
  /** Environment for its configuration, besides the defaults. */
  readonly env?: Readonly<Record<string, string>> | undefined
}

export interface GatewayAnswer {
  readonly url: string
}

/** Bytes of memory of the process: now, and at most since the last request; and its processor time since it began. */
export interface UsageAnswer {
  readonly bytesNow: number
  readonly bytesMax: number
  readonly cpuMs: number
}

/** The delay of its event loop since the last request: the 99th percentile, in milliseconds. */
export interface DelayAnswer {
  readonly delayMs: number
}

const MEMORY_SAMPLE_MS = 100

const log = createLogger({ level: 'fatal', name: 'bench-gateway' })
let stop = async () => {}

let delay = new LoopDelay()

let peak = 0

process.on('message', (order: GatewayOrder | 'delay' | 'usage') => {
  if (order === 'usage') {
    const bytesNow = process.memoryUsage.rss()
    const { user, system } = process.cpuUsage()
    const bytesMax = Math.max(peak, bytesNow)
    process.send?.({ bytesNow, bytesMax, cpuMs: (user + system) / 1_000 } satisfies UsageAnswer)
    peak = 0
    return
  }
  if (order !== 'delay') {
    void start(order).then((answer) => process.send?.(answer))
    return
  }
  process.send?.({ delayMs: delay.stop() } satisfies DelayAnswer)
  delay = new LoopDelay()
})
// The channel also closes when the parent was killed.
process.on('disconnect', () => void stop().finally(() => process.exit()))

async function start({
  databaseUrl,
  databases,
  queue,
  prefix,
  upstream,
  env = {},
}: GatewayOrder): Promise<GatewayAnswer> {
  // As every process of Heddle that runs long.
  limitHeapGrowth('relays')
  const store = openStore({ url: databaseUrl, ...(databases && { databases }) })
  const queues = await openQueues({ backend: queue, prefix, log, create: true })
  const project = 'nobody'
  const directAppends = new DirectAppends({ store, queues, clock: systemClock, log })
  const knownContexts = new KnownContexts()
  const config = loadConfig({ env, cwd: tmpdir() })
  const { settings } = config
  const telemetry = await startTelemetry(config, { log })
  const backend = gatewayBackendOf({
    store,
    queues,
    client: createClient({ store, queues, project, settings, log, directAppends, knownContexts }),
    config: { project, settings, settingLayers: [] },
    projectId: projectIdOf(project),
    embedder: () => Promise.reject(new TypeError('nothing is searched here')),
    reranker: null,
    directAppends,
    knownContexts,
    log,
    checkReady: () => store.ping(),
  })
  const proxy =
    upstream === undefined
      ? undefined
      : createProxy({
          upstreams: { anthropic: { url: upstream, protocol: 'anthropic' } },
          backend: () => proxyBackendOf({ store, clientOf: (project) => backend.clientOf(project) }),
          log,
        })
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, MEMORY_SAMPLE_MS)
  const gateway = await startGateway({
    port: 0,
    project,
    identity: {},
    log,
    backend: () => backend,
    mount: proxy,
  })
  telemetry.exportMetrics(() => gateway.readMetrics())
  stop = async () => {
    clearInterval(sampling)
    await gateway.close()
    await proxy?.close()
    await directAppends.close()
    await queues.close()
    await store.close()
    await telemetry.close()
  }
  return { url: gateway.url }
}
