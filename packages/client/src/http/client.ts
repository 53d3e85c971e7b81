import { type ContextRequest, contextResultSchema, limits, notFound } from '@heddle/contracts'
import type { ContextFor } from '@heddle/core'
import type { BuildOptions } from '../contexts.js'
import { newId } from '../ids.js'
import { subscribeToContexts } from '../subscribe.js'
import { appendOverHttp } from './append.js'
import { followOverHttp } from './events.js'
import { itemsOverHttp } from './items.js'
import type { RemoteClient } from './remote-client.js'
import { DEADLINE_MS_DEFAULT, Transport, type TransportOptions } from './transport.js'

/** Options of a page, as callers give them and as a query names them. */
interface PageOptions {
  readonly limit?: number | undefined
  readonly after?: string | undefined
  readonly order?: string | undefined
  readonly agent?: string | undefined
}

/** A client of the project that the key belongs to. Nothing is sent yet, and there is nothing to close. */
export function createClient(options: TransportOptions): RemoteClient {
  const transport = new Transport(options)
  const get = async (path: readonly string[], page: PageOptions = {}) => {
    const { limit, after, order, agent } = page
    const query = { limit, cursor: after, order, agent }
    return (await transport.call({ method: 'GET', path, query, retry: 'again' })).body
  }
  const put = async (path: readonly string[], body: unknown) =>
    (await transport.call({ method: 'PUT', path, body, retry: 'again' })).body
  const ask = async (path: readonly string[], body: unknown) =>
    (await transport.call({ method: 'POST', path, body, retry: 'again' })).body

  const find: RemoteClient['contexts']['find'] = async (id) => {
    const { status, body } = await transport.call({ method: 'GET', path: ['contexts', id], retry: 'again' })
    return status === 202 ? { id, status: 'requested' } : { id, status: 'built', context: body }
  }
  const client: RemoteClient = {
    messages: {
      append: (append) => appendOverHttp(transport, append),
      list: ({ thread, ...page }) => get(['threads', thread, 'messages'], page),
    },
    contexts: {
      async build<Request extends ContextRequest>(
        { thread, ...request }: Request,
        { deadlineMs = options.deadlineMs, signal }: BuildOptions = {},
      ) {
        const { body } = await transport.call({
          method: 'POST',
          path: ['threads', thread, 'contexts'],
          body: request,
          headers: preferWait(deadlineMs ?? DEADLINE_MS_DEFAULT),
          deadlineMs,
          signal,
          retry: 'refused',
        })
        return contextResultSchema.parse(body) as ContextFor<Request>
      },
      find,
      async get(id) {
        const found = await find(id)
        if (found.status === 'built') return found.context
        throw notFound('context', id, 'it is still being built')
      },
      at: ({ thread, at }) => get(['threads', thread, 'contexts', 'at', at]),
      diff: (before, after) => get(['contexts', before, 'diff', after]),
      async order({ thread, ...request }, { deadlineMs = limits.waitMsMax } = {}) {
        const prefer = `respond-async, ${preferWait(deadlineMs)['prefer']}`
        const path = ['threads', thread, 'contexts']
        const headers = { prefer }
        return (await transport.call({ method: 'POST', path, body: request, headers, retry: 'refused' })).body.id
      },
      subscribe: (subscription) => subscribeToContexts(client, subscription),
    },
    threads: {
      async list(page = {}) {
        const { items, nextCursor } = await get(['threads'], page)
        return { items: items.map(toThreadSummary), nextCursor }
      },
      get: (thread) => get(['threads', thread]),
      put: (thread, body) => put(['threads', thread], body),
      async delete(thread, { signal, wait = true } = {}) {
        const headers = wait ? {} : { prefer: 'respond-async' }
        const deadlineMs = wait ? limits.waitMsMax : undefined
        const call = {
          method: 'DELETE',
          path: ['threads', thread],
          headers,
          deadlineMs,
          signal,
          retry: 'refused',
        } as const
        return (await transport.call(call)).body
      },
    },
    processes: {
      put: (thread, process, body) => put(['threads', thread, 'processes', process], body),
      get: (thread, process) => get(['threads', thread, 'processes', process]),
      list: (thread, page) => get(['threads', thread, 'processes'], page),
    },
    iterations: {
      async append({ agent, thread, iterations }) {
        const path = ['threads', thread, 'iterations']
        return await ask(path, { agent, iterations: iterations.map((each) => ({ ...each, id: each.id ?? newId() })) })
      },
      list: (thread, page) => get(['threads', thread, 'iterations'], page as PageOptions),
    },
    agents: {
      put: async (agent, body) => toAgent(await put(['agents', agent], body)),
      get: async (agent) => toAgent(await get(['agents', agent])),
      async list(page = {}) {
        const { items, nextCursor } = await get(['agents'], page)
        return { items: items.map(toAgent), nextCursor }
      },
      async clear(agent, clear = {}) {
        return (
          await transport.call({ method: 'POST', path: ['agents', agent, 'clear'], body: clear, retry: 'refused' })
        ).body
      },
    },
    snapshots: {
      async save({ agent, ...body }, { deadlineMs, signal } = {}) {
        const path = ['agents', agent, 'snapshots']
        const headers = deadlineMs === undefined ? {} : preferWait(deadlineMs)
        const call = { method: 'POST', path, body, headers, deadlineMs, signal, retry: 'refused' } as const
        return (await transport.call(call)).body
      },
      history: (agent, page) => get(['agents', agent, 'snapshots'], page),
      get: (id) => get(['snapshots', id]),
      async restore(id, { deadlineMs, signal } = {}) {
        const path = ['snapshots', id, 'restore']
        return (await transport.call({ method: 'POST', path, deadlineMs, signal, retry: 'again' })).body
      },
    },
    items: itemsOverHttp(transport),
    recall: (request) => ask(['recall'], request),
    async search(request) {
      const { nextCursor: _, ...found } = await ask(['search'], request)
      return found
    },
    events: { follow: (follow) => followOverHttp(transport, follow) },
    archive: {
      async search(request) {
        const { nextCursor: _, ...found } = await ask(['archive', 'search'], request)
        return found
      },
    },
  }
  return client
}

function preferWait(deadlineMs: number): Record<string, string> {
  return { prefer: `wait=${Math.min(Math.max(1, Math.ceil(deadlineMs / 1_000)), limits.waitMsMax / 1_000)}` }
}

// biome-ignore lint/suspicious/noExplicitAny: rows of the contract, whose types their callers name.
type Row = any

/** Times are texts over HTTP and milliseconds in programs. */
function toAgent({ lastClearedAt, lastMessageAt, createdAt, ...agent }: Row): Row {
  return {
    ...agent,
    lastClearedAtMs: timeMs(lastClearedAt),
    ...(lastMessageAt !== undefined && { lastMessageAtMs: timeMs(lastMessageAt) }),
    createdAtMs: timeMs(createdAt),
  }
}

function toThreadSummary({ agent, lastMessageAt, createdAt, ...thread }: Row): Row {
  return { ...thread, agentName: agent, lastMessageAtMs: timeMs(lastMessageAt), createdAtMs: timeMs(createdAt) }
}

function timeMs(text: string | null): number | null {
  return text === null ? null : Date.parse(text)
}
