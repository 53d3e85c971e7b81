import { createClient, hasKeys, readKey } from '@heddle/client'
import { projectIdOf } from '@heddle/core'
import { startGateway } from '@heddle/gateway'
import { openQueues, type QueuesOptions } from '@heddle/queue'
import { createLogger } from '@heddle/runtime'
import { openStore } from '@heddle/store'

/** What the process is told first: what to serve. It answers with where. */
export interface GatewayOrder {
  readonly databaseUrl: string
  readonly queue: QueuesOptions['backend']
  readonly prefix: string
}

export interface GatewayAnswer {
  readonly url: string
}

const log = createLogger({ level: 'fatal', name: 'bench-gateway' })
let stop = async () => {}

process.once('message', (order: GatewayOrder) => {
  void start(order).then((answer) => process.send?.(answer))
})
// Also when the parent was killed: the channel closes with it.
process.on('disconnect', () => void stop().finally(() => process.exit()))

async function start({ databaseUrl, queue, prefix }: GatewayOrder): Promise<GatewayAnswer> {
  const store = openStore({ url: databaseUrl })
  const queues = await openQueues({ backend: queue, prefix, log })
  const gateway = await startGateway({
    port: 0,
    project: 'nobody',
    identity: {},
    log,
    backend: () => ({
      clientOf: (project) => createClient({ store, queues, project, log }),
      keys: { read: (key) => readKey(store, key, Date.now()), hasAny: () => hasKeys(store, projectIdOf('nobody')) },
      readStageStats: () => queues.stats(),
      checkReady: async () => undefined,
    }),
  })
  stop = async () => {
    await gateway.close()
    await queues.close()
    await store.close()
  }
  return { url: gateway.url }
}
