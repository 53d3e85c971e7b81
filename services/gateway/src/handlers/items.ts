import { type itemOperations, notFound, type threadItemOperations } from '@heddle/contracts'
import type { Handlers } from '../http/handler.js'

export const itemHandlers: Handlers<typeof itemOperations> = {
  putItem: ({ client, params: { agent, ...key }, query, body }) =>
    client.items.put(agent, { ...key, ...query, ...body }),
  getItem: ({ client, params: { agent, ...key }, query: { version, serverName } }) =>
    client.items.get(agent, { ...key, serverName }, { version }),
  deleteItem: ({ client, params: { agent, ...key }, query }) => client.items.remove(agent, { ...key, ...query }),
  listItems: ({ client, params, query }) => client.items.list(params.agent, query),
  itemStats: ({ client, params, query }) => client.items.stats(params.agent, query),
  putToolServer: ({ client, params, body }) => client.items.setServer(params.agent, params.server, body),
  putTools: ({ client, params, body: { tools, ...options } }) =>
    client.items.sync(params.agent, params.server, tools, options),
  async searchContextItems({ client, params, body: { query, items, options } }) {
    return { items: await client.items.searchContextItems(params.agent, query, items, options), nextCursor: null }
  },
}

export const threadItemHandlers: Handlers<typeof threadItemOperations> = {
  async putThreadItem({ client, params: { thread, ...key }, query }) {
    return { added: await client.items.addToThread(thread, { ...key, ...query }) }
  },
  async getThreadItem({ client, params: { thread, type, name }, query: { serverName } }) {
    const held = await client.items.listOfThread(thread)
    const item = held.find(
      (one) => one.type === type && one.name === name && (serverName === undefined || one.serverName === serverName),
    )
    if (item === undefined) throw notFound(type, name, 'the thread does not have it: see GET /v1/threads/:thread/items')
    return item
  },
  async deleteThreadItem({ client, params: { thread, ...key }, query }) {
    await client.items.removeFromThread(thread, { ...key, ...query })
    return { removed: true }
  },
  listThreadItems: async ({ client, params }) => ({
    items: await client.items.listOfThread(params.thread),
    nextCursor: null,
  }),
}
