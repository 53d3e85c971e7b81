import { projectIdOf } from '@heddle/core'
import { createClient, DirectAppends, KnownContexts } from '@heddle/engine'
import { startGateway } from '@heddle/gateway'
import { gatewayBackendOf } from '@heddle/host/gateway'
import { createEmbedders } from '@heddle/models'
import { openQueues } from '@heddle/queue'
import { createLogger, loadConfig, systemClock } from '@heddle/runtime'
import { openStore } from '@heddle/store'

/*
 * A gateway without workers, on the server that the environment names. It reports its address to its parent, and ends when the
 * channel to the parent closes, also if the parent was killed.
 */

const log = createLogger({ level: 'error', name: 'soak-gateway' })
const config = loadConfig({ env: process.env, cwd: process.cwd() })
const { databaseUrl, project, settings, queuePrefix } = config
if (databaseUrl === null) throw new Error('DATABASE_URL is not set')

const store = openStore({ url: databaseUrl, connectionsMax: 4, applicationName: 'soak gateway', log })
const queues = await openQueues({ backend: { kind: 'postgres', url: databaseUrl }, prefix: queuePrefix, log })
const embedders = createEmbedders(config.embedder, { env: process.env, log, clock: systemClock })
const embedder = async () => (await embedders.chosen()).embedder
const directAppends = new DirectAppends({ store, queues, clock: systemClock, log })
const knownContexts = new KnownContexts()
const backend = gatewayBackendOf({
  store,
  queues,
  client: createClient({ store, queues, project, settings, embedder, log, directAppends, knownContexts }),
  config: { project, settings, settingLayers: [] },
  projectId: projectIdOf(project),
  embedder,
  reranker: null,
  directAppends,
  knownContexts,
  log,
  checkReady: () => store.ping(),
})
const gateway = await startGateway({ port: 0, project, identity: {}, log, backend: () => backend })
process.on('disconnect', () => void stop().finally(() => process.exit()))
process.send?.({ url: gateway.url })

async function stop(): Promise<void> {
  await gateway.close()
  await embedders.close()
  await directAppends.close()
  await queues.close()
  await store.close()
}
