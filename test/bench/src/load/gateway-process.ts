import { tmpdir } from 'node:os'
import { projectIdOf } from '@heddle/core'
import { createClient, DirectAppends } from '@heddle/engine'
import { startGateway } from '@heddle/gateway'
import { gatewayBackendOf } from '@heddle/host/gateway'
import { openQueues, type QueuesOptions } from '@heddle/queue'
import { createLogger, loadConfig, systemClock } from '@heddle/runtime'
import { openStore } from '@heddle/store'
import { LoopDelay } from './loop-delay.js'

/** The first message to the process: the gateway's parameters. It answers with its address. */
export interface GatewayOrder {
  readonly databaseUrl: string
  readonly queue: QueuesOptions['backend']
  readonly prefix: string
}

export interface GatewayAnswer {
  readonly url: string
}

/** The delay of its event loop since the last request: the 99th percentile, in milliseconds. */
export interface DelayAnswer {
  readonly delayMs: number
}

const log = createLogger({ level: 'fatal', name: 'bench-gateway' })
let stop = async () => {}

let delay = new LoopDelay()

process.on('message', (order: GatewayOrder | 'delay') => {
  if (order !== 'delay') {
    void start(order).then((answer) => process.send?.(answer))
    return
  }
  process.send?.({ delayMs: delay.stop() } satisfies DelayAnswer)
  delay = new LoopDelay()
})
// The channel also closes when the parent was killed.
process.on('disconnect', () => void stop().finally(() => process.exit()))

async function start({ databaseUrl, queue, prefix }: GatewayOrder): Promise<GatewayAnswer> {
  const store = openStore({ url: databaseUrl })
  const queues = await openQueues({ backend: queue, prefix, log, create: true })
  const project = 'nobody'
  const directAppends = new DirectAppends({ store, queues, clock: systemClock, log })
  const { settings } = loadConfig({ env: {}, cwd: tmpdir() })
  const backend = gatewayBackendOf({
    store,
    queues,
    client: createClient({ store, queues, project, settings, log, directAppends }),
    config: { project, settings, settingLayers: [] },
    projectId: projectIdOf(project),
    embedder: () => Promise.reject(new TypeError('nothing is searched here')),
    directAppends,
    log,
    checkReady: () => store.ping(),
  })
  const gateway = await startGateway({
    port: 0,
    project,
    identity: {},
    log,
    backend: () => backend,
  })
  stop = async () => {
    await gateway.close()
    await directAppends.close()
    await queues.close()
    await store.close()
  }
  return { url: gateway.url }
}
