import type { Client } from '@heddle/client/interface'
import { type Finding, notFound } from '@heddle/contracts'
import { projectIdOf } from '@heddle/core'
import { createClient, hasKeys, readKey } from '@heddle/engine'
import type { GatewayBackend } from '@heddle/gateway'
import { type Config, systemClock } from '@heddle/runtime'
import { LRUCache } from 'lru-cache'
import type { Engine } from './engine.js'

/** Projects whose clients are cached; a client holds little more than its settings. */
const CLIENTS_MAX = 1_000

export interface GatewayEngine
  extends Pick<
    Engine,
    | 'store'
    | 'queues'
    | 'client'
    | 'projectId'
    | 'embedder'
    | 'reranker'
    | 'directAppends'
    | 'knownContexts'
    | 'log'
    | 'checkReady'
  > {
  /** Default: previews are refused. */
  readonly previewer?: Engine['previewer']
  readonly config: Pick<Config, 'project' | 'settings' | 'settingLayers'>
}

/** Warns that no key exists. A gateway starts without keys, too, and refuses all requests until one is created. */
export async function warnWithoutKey({ store, projectId, config, log }: GatewayEngine): Promise<void> {
  if (await hasKeys(store, projectId)) return
  log.warn(
    { project: config.project, hint: 'Create one with: heddle keys create --name admin --role admin' },
    'the project has no API key: all requests are refused until it has one',
  )
}

/**
 * The backend of the gateway: one client per project, on one store and one set of queues.
 *
 * @param examine checks everything that Heddle needs, as `heddle doctor` does; absent in a program without its checks
 */
export function gatewayBackendOf(
  engine: GatewayEngine,
  examine: GatewayBackend['examine'] = withoutChecks,
): GatewayBackend {
  const { store, queues, config, embedder, reranker, directAppends, knownContexts, previewer, log } = engine
  const clients = new LRUCache<string, Client>({ max: CLIENTS_MAX })
  clients.set(config.project, engine.client)
  return {
    clientOf(project) {
      const known = clients.get(project)
      if (known !== undefined) return known
      const client = createClient({
        store,
        queues,
        project,
        settings: config.settings,
        settingLayers: config.settingLayers,
        embedder,
        reranker,
        directAppends,
        knownContexts,
        previewer,
        log,
      })
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
    examine,
    checkReady: () => engine.checkReady(),
  }
}

async function withoutChecks(): Promise<readonly Finding[]> {
  throw notFound('findings', 'all', 'this gateway has no checks: run "heddle doctor" with its environment')
}
