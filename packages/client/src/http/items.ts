import { type CallOperation, pageQuery } from './call.js'
import type { RemoteClient } from './remote-client.js'

/** The items of agents and threads over HTTP. */
export function itemsOverHttp(call: CallOperation): RemoteClient['items'] {
  return {
    put: async (agent, { type, name, serverName, ...body }) =>
      (await call('putItem', { params: { agent, type, name }, query: { serverName }, body })).body,
    get: async (agent, { type, name, serverName }, { version } = {}) =>
      (await call('getItem', { params: { agent, type, name }, query: { serverName, version } })).body,
    list: async (agent, page = {}) => (await call('listItems', { params: { agent }, query: pageQuery(page) })).body,
    remove: async (agent, { type, name, serverName }) =>
      (await call('deleteItem', { params: { agent, type, name }, query: { serverName } })).body,
    setServer: async (agent, server, body) => (await call('putToolServer', { params: { agent, server }, body })).body,
    sync: async (agent, server, tools, options = {}) =>
      (await call('putTools', { params: { agent, server }, body: { tools, ...options } })).body,
    searchContextItems: async (agent, query, items, options) =>
      (await call('searchContextItems', { params: { agent }, body: { query, items, options } })).body.items,
    stats: async (agent, query = {}) => (await call('itemStats', { params: { agent }, query })).body,
    listOfThread: async (thread) => (await call('listThreadItems', { params: { thread } })).body.items,
    addToThread: async (thread, { type, name, serverName }) =>
      (await call('putThreadItem', { params: { thread, type, name }, query: { serverName } })).body.added,
    async removeFromThread(thread, { type, name, serverName }) {
      await call('deleteThreadItem', { params: { thread, type, name }, query: { serverName } })
    },
  }
}
