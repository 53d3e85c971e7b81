import type { BuildRequest, RequestedContext } from '@heddle/client/interface'
import type { ContextResult, contextOperations } from '@heddle/contracts'
import { checkPermission } from '../admission/access.js'
import type { Handlers } from '../http/handler.js'
import { readKey } from '../http/idempotency.js'
import { readPrefer } from '../http/prefer.js'

export const contextHandlers: Handlers<typeof contextOperations> = {
  async buildContext({ client, rights, params, body, headers, signal }) {
    const { respondAsync, waitMs: deadlineMs } = readPrefer(headers['prefer'])
    if (body?.append !== undefined) checkPermission(rights, 'produce')
    const idempotencyKey = readKey(headers['idempotency-key'])
    // Only the frame of the messages has been parsed: the client parses them by their format.
    const request = { ...body, ...params } as BuildRequest
    if (respondAsync) return underWay(await client.contexts.order(request, { deadlineMs, idempotencyKey }))
    const how = { deadlineMs, signal, onBusy: 'fail', idempotencyKey } as const
    const context = await client.contexts.build<BuildRequest>(request, how)
    return { status: 200, body: context }
  },
  listContexts: ({ client, params, query }) => client.contexts.list({ ...query, ...params }),
  async getContext({ client, params, query }) {
    if (query.rebuild) return { status: 200, body: await client.contexts.get(params.context, query) }
    return whenBuilt(await client.contexts.find(params.context), (context) => context)
  },
  getReceipt: async ({ client, params }) =>
    whenBuilt(await client.contexts.find(params.context), ({ receipt }) => receipt),
  getContextAt: ({ client, params }) => client.contexts.at(params),
  getRequestContext: ({ client, params }) => client.messages.requestContext(params),
  findRequestContext: ({ client, params }) => client.messages.requestContext(params),
  exportRequestContexts: async ({ client, params, query }) => client.contexts.exportOfReplies(params.agent, query),
  diffContexts: ({ client, params }) => client.contexts.diff(params.context, params.other),
}

function whenBuilt<Body>(found: RequestedContext, body: (context: ContextResult) => Body) {
  return found.status === 'built' ? ({ status: 200, body: body(found.context) } as const) : underWay(found.id)
}

function underWay(id: string) {
  return {
    status: 202,
    headers: { location: `/v1/contexts/${id}`, 'retry-after': '1' },
    body: { id, status: 'requested' },
  } as const
}
