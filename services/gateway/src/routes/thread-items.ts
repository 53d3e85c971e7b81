import {
  itemQuerySchema,
  notFound,
  threadItemAddedSchema,
  threadItemParamsSchema,
  threadItemRemovedSchema,
  threadItemSchema,
  threadItemsSchema,
  threadParamsSchema,
} from '@heddle/contracts'
import { type Route, route } from '../http/route.js'

const tag = 'items'
const path = '/v1/threads/:thread/items/:type/:name'

export const threadItemRoutes: readonly Route[] = [
  route({
    id: 'putThreadItem',
    method: 'PUT',
    path,
    tag,
    needs: 'produce',
    summary: 'Add an item of the agent to a thread by hand',
    params: threadItemParamsSchema,
    query: itemQuerySchema,
    responses: { 200: { description: 'Whether the thread did not hold it before.', schema: threadItemAddedSchema } },
    async handle({ client, params: { thread, ...key }, query }) {
      return { body: { added: await client.items.addToThread(thread, { ...key, ...query }) } }
    },
  }),
  route({
    id: 'getThreadItem',
    method: 'GET',
    path,
    tag,
    needs: 'read',
    summary: 'An item that a thread holds, as its contexts show it',
    params: threadItemParamsSchema,
    query: itemQuerySchema,
    responses: { 200: { description: 'The item.', schema: threadItemSchema } },
    async handle({ client, params: { thread, type, name }, query: { serverName } }) {
      const held = await client.items.listOfThread(thread)
      const item = held.find(
        (one) => one.type === type && one.name === name && (serverName === undefined || one.serverName === serverName),
      )
      if (item === undefined)
        throw notFound(type, name, 'the thread does not hold it: see GET /v1/threads/:thread/items')
      return { body: item }
    },
  }),
  route({
    id: 'deleteThreadItem',
    method: 'DELETE',
    path,
    tag,
    needs: 'produce',
    summary: 'Take an item away from a thread',
    description: 'One with the mode `agent` may still be selected for a request.',
    params: threadItemParamsSchema,
    query: itemQuerySchema,
    responses: { 200: { description: 'The thread does not hold it any more.', schema: threadItemRemovedSchema } },
    async handle({ client, params: { thread, ...key }, query }) {
      await client.items.removeFromThread(thread, { ...key, ...query })
      return { body: { removed: true } }
    },
  }),
  route({
    id: 'listThreadItems',
    method: 'GET',
    path: '/v1/threads/:thread/items',
    tag,
    needs: 'read',
    summary: 'The items that a thread holds, in the order in which contexts show them',
    params: threadParamsSchema,
    responses: { 200: { description: 'All of them.', schema: threadItemsSchema } },
    async handle({ client, params }) {
      return { body: { items: await client.items.listOfThread(params.thread), nextCursor: null } }
    },
  }),
]
