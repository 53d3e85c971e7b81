import type { Client } from '@heddle/client/interface'
import { projectIdOf } from '@heddle/core'
import { createClient, hasKeys, readKey } from '@heddle/engine'
import type { GatewayBackend } from '@heddle/gateway'
import { type Config, systemClock } from '@heddle/runtime'
import { LRUCache } from 'lru-cache'
import type { Engine } from './engine.js'

/** Projects whose clients are kept; a client holds little more than its settings. */
const CLIENTS_MAX = 1_000

export interface GatewayEngine
  extends Pick<Engine, 'store' | 'queues' | 'client' | 'projectId' | 'embedder' | 'log' | 'checkReady'> {
  readonly config: Pick<Config, 'project' | 'settings'>
}

/** One of several gateways starts also where no key has been made yet: it lets nobody in until then, and says why. */
export async function warnWithoutKey({ store, projectId, config, log }: GatewayEngine): Promise<void> {
  if (await hasKeys(store, projectId)) return
  log.warn(
    { project: config.project, hint: 'Make one with: heddle keys create --name admin --role admin' },
    'the project has no key: nobody is let in until it has one',
  )
}

/** What the gateway answers from: a client for each project whose key comes along, on one store and one set of queues. */
export function gatewayBackendOf(engine: GatewayEngine): GatewayBackend {
  const { store, queues, config, embedder, log } = engine
  const clients = new LRUCache<string, Client>({ max: CLIENTS_MAX })
  clients.set(config.project, engine.client)
  return {
    clientOf(project) {
      const known = clients.get(project)
      if (known !== undefined) return known
      const client = createClient({ store, queues, project, settings: config.settings, embedder, log })
      clients.set(project, client)
      return client
    },
    keys: {
      read: (key) => readKey(store, key, systemClock.nowMs()),
      hasAny: () => hasKeys(store, engine.projectId),
    },
    checkShare: (project, share) => queues.checkShare({ ...share, projectId: projectIdOf(project) }),
    readStageStats: () => queues.stats(),
    readModelCalls: () => queues.modelCalls,
    checkReady: () => engine.checkReady(),
  }
}
