import type { proxyOperations } from '@heddle/contracts'
import type { Handlers } from '../http/handler.js'

/** Figures of the requests that the proxy relayed. */
export const proxyHandlers: Handlers<typeof proxyOperations> = {
  listProxiedRequests: ({ client, query }) => client.proxy.requests(query),
  getProxiedRequest: ({ client, params, query }) => client.proxy.request({ id: params.request, ...query }),
  getProxyStats: ({ client }) => client.proxy.stats(),
}
