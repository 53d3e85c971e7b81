import type { Client } from '@heddle/client/interface'
import {
  type ContextResult,
  contextBodySchema,
  contextPageSchema,
  contextPairParamsSchema,
  contextParamsSchema,
  contextRequestedSchema,
  contextSchema,
  httpContextDiffSchema,
  httpReceiptSchema,
  limits,
  momentParamsSchema,
  pageQuerySchema,
  threadParamsSchema,
} from '@heddle/contracts'
import { readPrefer } from '../http/prefer.js'
import { type Answer, pageOptions, type Route, type RouteResponse, route } from '../http/route.js'

const tag = 'contexts'
const requested: RouteResponse = {
  description: 'It is being built.',
  schema: contextRequestedSchema,
  headers: { Location: 'Where it will be.', 'Retry-After': 'Seconds after which to look.' },
}

export const contextRoutes: readonly Route[] = [
  route({
    id: 'buildContext',
    method: 'POST',
    path: '/v1/threads/:thread/contexts',
    tag,
    needs: 'read',
    stage: 'assemble',
    summary: 'Build a context: messages for a provider, within a budget, with a receipt',
    description: 'What the body leaves out comes from the settings of the thread and its agent.',
    params: threadParamsSchema,
    body: contextBodySchema.optional(),
    bodyBytesMax: limits.httpBodyBytesMax,
    headers: {
      Prefer:
        '`wait=N`: wait at most N seconds for it, 30 if it is left out. `respond-async`: do not wait; the answer says where it will be.',
    },
    responses: { 200: { description: 'The context.', schema: contextSchema }, 202: requested },
    async handle({ client, params, body = {}, headers, signal }) {
      const { respondAsync, waitMs } = readPrefer(headers['prefer'])
      const request = { ...body, ...params }
      const deadline = waitMs === undefined ? {} : { deadlineMs: waitMs }
      if (respondAsync) return underWay(await client.contexts.order(request, deadline))
      return { body: await client.contexts.build(request, { ...deadline, signal, onBusy: 'fail' }) }
    },
  }),
  route({
    id: 'listContexts',
    method: 'GET',
    path: '/v1/threads/:thread/contexts',
    tag,
    needs: 'read',
    summary: 'The contexts that were asked for in a thread, newest first, without their messages',
    params: threadParamsSchema,
    query: pageQuerySchema,
    responses: { 200: { description: 'A page of contexts.', schema: contextPageSchema } },
    async handle({ client, params, query }) {
      return { body: await client.contexts.list({ ...params, ...pageOptions(query) }) }
    },
  }),
  route({
    id: 'getContext',
    method: 'GET',
    path: '/v1/contexts/:context',
    tag,
    needs: 'read',
    summary: 'A context as it was built',
    description: 'One that could not be built is answered with the problem that kept it from being built.',
    params: contextParamsSchema,
    responses: { 200: { description: 'The context.', schema: contextSchema }, 202: requested },
    async handle({ client, params }) {
      return whenBuilt(await client.contexts.find(params.context), (context) => context)
    },
  }),
  route({
    id: 'getReceipt',
    method: 'GET',
    path: '/v1/contexts/:context/receipt',
    tag,
    needs: 'read',
    summary: 'What is in a context, why, and at what cost',
    params: contextParamsSchema,
    responses: { 200: { description: 'The receipt.', schema: httpReceiptSchema }, 202: requested },
    async handle({ client, params }) {
      return whenBuilt(await client.contexts.find(params.context), ({ receipt }) => receipt)
    },
  }),
  route({
    id: 'getContextAt',
    method: 'GET',
    path: '/v1/threads/:thread/contexts/at/:at',
    tag,
    needs: 'read',
    summary: 'The last context of a thread that was built up to a moment, as it was delivered',
    params: momentParamsSchema,
    responses: { 200: { description: 'The context.', schema: contextSchema } },
    async handle({ client, params }) {
      return { body: await client.contexts.at(params) }
    },
  }),
  route({
    id: 'diffContexts',
    method: 'GET',
    path: '/v1/contexts/:context/diff/:other',
    tag,
    needs: 'read',
    summary: 'What became of a context in another: what came in, went out, changed its form or moved',
    params: contextPairParamsSchema,
    responses: {
      200: {
        description: 'What the second has that the first has not, and the reverse.',
        schema: httpContextDiffSchema,
      },
    },
    async handle({ client, params }) {
      return { body: await client.contexts.diff(params.context, params.other) }
    },
  }),
]

type Requested = Awaited<ReturnType<Client['contexts']['find']>>

function whenBuilt(found: Requested, body: (context: ContextResult) => unknown): Answer {
  return found.status === 'built' ? { body: body(found.context) } : underWay(found.id)
}

function underWay(id: string): Answer {
  return {
    status: 202,
    headers: { location: `/v1/contexts/${id}`, 'retry-after': '1' },
    body: { id, status: 'requested' },
  }
}
