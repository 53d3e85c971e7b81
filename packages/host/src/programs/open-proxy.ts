import type { GatewayBackend } from '@heddle/gateway'
import { createProxy, type ProviderProxy } from '@heddle/proxy'
import type { Config, Logger } from '@heddle/runtime'
import type { Store } from '@heddle/store'
import { proxyBackendOf } from './proxy-backend.js'

export interface ProxyParts {
  readonly log: Logger
  /** Null until the store is open. */
  backend(): GatewayBackend | null
  store(): Store | null
}

/** The proxy of a process, by its configuration. */
export function openProxy(
  { proxy, settings }: Pick<Config, 'proxy' | 'settings'>,
  { log, backend, store }: ProxyParts,
): ProviderProxy {
  const { stubTokensMin, recall, ...options } = proxy
  const policy = { ...(stubTokensMin !== null && { resultTokensMin: stubTokensMin }), addsRecallTool: recall }
  return createProxy({
    ...options,
    // The configuration has settings of all agents, too.
    mode: settings.proxyMode ?? options.mode,
    policy,
    log,
    backend() {
      const [clients, opened] = [backend(), store()]
      if (clients === null || opened === null) return null
      return proxyBackendOf({ store: opened, clientOf: (project) => clients.clientOf(project) })
    },
  })
}
