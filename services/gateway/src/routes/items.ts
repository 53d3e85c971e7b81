import {
  agentParamsSchema,
  itemBodySchema,
  itemPageSchema,
  itemParamsSchema,
  itemQuerySchema,
  itemSchema,
  itemStatsQuerySchema,
  itemStatsSchema,
  itemsQuerySchema,
  itemVersionQuerySchema,
  limits,
  putItemSchema,
} from '@heddle/contracts'
import { pageOptions, type Route, route } from '../http/route.js'

const tag = 'items'
const itemResponse = { 200: { description: 'The item.', schema: itemSchema } }
const path = '/v1/agents/:agent/items/:type/:name'

export const itemRoutes: readonly Route[] = [
  route({
    id: 'putItem',
    method: 'PUT',
    path,
    tag,
    needs: 'admin',
    summary: 'Make a rule, a reference or a tool of an agent, or give it a new version',
    description:
      'What is left out of the body stays as it is. The next context of each thread that holds it shows it. With the mode `always` it comes with each thread that starts; `threadsWithout` names threads that began before, to which it is added by hand.',
    params: itemParamsSchema,
    query: itemQuerySchema,
    body: itemBodySchema,
    bodyBytesMax: limits.httpBodyBytesMax,
    responses: { 200: { description: 'The item, and threads that do not hold it.', schema: putItemSchema } },
    async handle({ client, params: { agent, ...key }, query, body }) {
      return { body: await client.items.put(agent, { ...key, ...query, ...body }) }
    },
  }),
  route({
    id: 'getItem',
    method: 'GET',
    path,
    tag,
    needs: 'read',
    summary: 'An item in the version in force, or in an older one',
    params: itemParamsSchema,
    query: itemVersionQuerySchema,
    responses: itemResponse,
    async handle({ client, params: { agent, ...key }, query: { version, ...server } }) {
      const options = version === undefined ? {} : { version }
      return { body: await client.items.get(agent, { ...key, ...server }, options) }
    },
  }),
  route({
    id: 'deleteItem',
    method: 'DELETE',
    path,
    tag,
    needs: 'admin',
    summary: 'Take an item away',
    description: 'The next context does not show it. Its versions stay readable for the receipts that name them.',
    params: itemParamsSchema,
    query: itemQuerySchema,
    responses: { 200: { description: 'The item as it was.', schema: itemSchema } },
    async handle({ client, params: { agent, ...key }, query }) {
      return { body: await client.items.remove(agent, { ...key, ...query }) }
    },
  }),
  route({
    id: 'listItems',
    method: 'GET',
    path: '/v1/agents/:agent/items',
    tag,
    needs: 'read',
    summary: 'The items of an agent by type, server and name',
    params: agentParamsSchema,
    query: itemsQuerySchema,
    responses: { 200: { description: 'A page of items.', schema: itemPageSchema } },
    async handle({ client, params, query }) {
      const { type, serverName } = query
      const options = {
        ...pageOptions(query),
        ...(type !== undefined && { type }),
        ...(serverName !== undefined && { serverName }),
      }
      return { body: await client.items.list(params.agent, options) }
    },
  }),
  route({
    id: 'itemStats',
    method: 'GET',
    path: '/v1/agents/:agent/items/stats',
    tag,
    needs: 'read',
    summary: 'How often contexts showed the items of an agent, at what cost, and whether replies used them',
    description: 'Suggests which items to drop, to show always, or to select by their meaning.',
    params: agentParamsSchema,
    query: itemStatsQuerySchema,
    responses: { 200: { description: 'The figures of each item, the costliest first.', schema: itemStatsSchema } },
    async handle({ client, params, query: { since } }) {
      return { body: await client.items.stats(params.agent, since === undefined ? {} : { since }) }
    },
  }),
]
