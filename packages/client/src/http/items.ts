import type { RequestItem } from '@heddle/contracts'
import type { ThreadItemEntry } from '../interface/items.js'
import type { RemoteClient } from './remote-client.js'
import type { Transport } from './transport.js'

/** The items of agents and threads over HTTP. */
export function itemsOverHttp(transport: Transport): RemoteClient['items'] {
  const call = async <Body>(
    method: 'GET' | 'PUT' | 'POST' | 'DELETE',
    path: readonly string[],
    { query, body }: { query?: Readonly<Record<string, string | number | undefined>>; body?: unknown } = {},
  ) => {
    const retry = method === 'DELETE' ? 'refused' : 'again'
    return (
      await transport.call<Body>({ method, path, ...(query && { query }), ...(body !== undefined && { body }), retry })
    ).body
  }
  return {
    put: (agent, { type, name, serverName, ...body }) =>
      call('PUT', ['agents', agent, 'items', type, name], { query: { serverName }, body }),
    get: (agent, { type, name, serverName }, { version } = {}) =>
      call('GET', ['agents', agent, 'items', type, name], { query: { serverName, version } }),
    list: (agent, { type, serverName, limit, cursor, after } = {}) =>
      call('GET', ['agents', agent, 'items'], { query: { type, serverName, limit, cursor: cursor ?? after } }),
    remove: (agent, { type, name, serverName }) =>
      call('DELETE', ['agents', agent, 'items', type, name], { query: { serverName } }),
    setServer: (agent, server, body) => call('PUT', ['agents', agent, 'servers', server], { body }),
    sync: (agent, server, tools, { include } = {}) =>
      call('PUT', ['agents', agent, 'servers', server, 'tools'], {
        body: { tools, ...(include !== undefined && { include }) },
      }),
    searchContextItems: async (agent, query, items, options) =>
      (
        await call<{ items: RequestItem[] }>('POST', ['agents', agent, 'items', 'search'], {
          body: { query, items, ...(options !== undefined && { options }) },
        })
      ).items,
    stats: (agent, { since } = {}) => call('GET', ['agents', agent, 'items', 'stats'], { query: { since } }),
    listOfThread: async (thread) =>
      (await call<{ items: ThreadItemEntry[] }>('GET', ['threads', thread, 'items'])).items,
    addToThread: async (thread, { type, name, serverName }) =>
      (await call<{ added: boolean }>('PUT', ['threads', thread, 'items', type, name], { query: { serverName } }))
        .added,
    async removeFromThread(thread, { type, name, serverName }) {
      await call('DELETE', ['threads', thread, 'items', type, name], { query: { serverName } })
    },
  }
}
