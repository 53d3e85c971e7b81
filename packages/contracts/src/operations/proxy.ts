import { pageQuerySchema } from '../http/common.js'
import {
  proxiedRequestPageSchema,
  proxiedRequestParamsSchema,
  proxiedRequestsQuerySchema,
  proxiedRequestViewSchema,
  proxyTotalsPageSchema,
} from '../http/proxied-requests.js'
import { operation } from './operation.js'

export const proxyOperations = {
  listProxiedRequests: operation({
    method: 'GET',
    path: '/v1/proxy/requests',
    tag: 'proxy',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'Requests to providers that the proxy relayed, newest first',
    description: 'Figures of each request: what was received, sent, counted and paid. They are kept for some time.',
    query: proxiedRequestsQuerySchema,
    answers: { 200: { description: 'A page of requests.', schema: proxiedRequestPageSchema } },
  }),
  getProxiedRequest: operation({
    method: 'GET',
    path: '/v1/proxy/requests/:request',
    tag: 'proxy',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'A relayed request as it was received and as it was sent, entry by entry',
    description:
      'Bodies are not stored: the entries are put together from stored messages, with the texts that were sent in their place. The bytes and hashes are those of the bodies. Erased messages are missing, and with them what stood for them.',
    params: proxiedRequestParamsSchema,
    query: pageQuerySchema,
    answers: { 200: { description: 'A page of entries.', schema: proxiedRequestViewSchema } },
  }),
  getProxyStats: operation({
    method: 'GET',
    path: '/v1/proxy/stats',
    tag: 'proxy',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'Sums of the relayed requests that are kept, by mode and model',
    description: 'Costs, and the estimated costs of the same requests as they came.',
    answers: { 200: { description: 'Every mode and model, in one page.', schema: proxyTotalsPageSchema } },
  }),
}
