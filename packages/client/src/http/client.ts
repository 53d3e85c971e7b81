import {
  type AgentEntry,
  type AgentSummary,
  type agentPageSchema,
  type agentSchema,
  type ContextFor,
  type ContextRequest,
  type ContextResult,
  limits,
  notFound,
  type Restored,
  type Snapshot,
  type ThreadSummary,
  type threadPageSchema,
} from '@heddle/contracts'
import type { z } from 'zod'
import { checkDeadline } from '../calls/deadline.js'
import { newId } from '../calls/ids.js'
import { subscribeToContexts } from '../calls/subscribe.js'
import type { ClearResult } from '../interface/agents.js'
import type { BuildOptions } from '../interface/contexts.js'
import type { ErasureResult } from '../interface/projects.js'
import type { SearchResult } from '../interface/recall.js'
import { appendOverHttp } from './append.js'
import { archiveOverHttp } from './archive.js'
import { followOverHttp } from './events.js'
import { itemsOverHttp } from './items.js'
import type { RemoteClient } from './remote-client.js'
import { type Call, preferWait, Transport, type TransportOptions } from './transport.js'

/** Options of a page, as callers give them and as a query names them. */
interface PageOptions {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly after?: string | undefined
  readonly order?: string | undefined
  readonly agent?: string | undefined
  readonly thread?: string | undefined
}

/** A client of the project that the key belongs to. Nothing is sent yet, and there is nothing to close. */
export function createClient(options: TransportOptions): RemoteClient {
  return remoteClientOf(options)
}

/** @param closing ends the calls and the streams of the client, with its reason */
export function remoteClientOf(options: TransportOptions, closing?: AbortSignal): RemoteClient {
  const transport = new Transport(options, closing)
  const get = async <Body>(path: readonly string[], page: PageOptions = {}): Promise<Body> => {
    const { limit, order, agent, thread } = page
    const query = { limit, cursor: page.cursor ?? page.after, order, agent, thread }
    return (await transport.call<Body>({ method: 'GET', path, query, retry: 'again' })).body
  }
  const put = async <Body>(path: readonly string[], body: unknown): Promise<Body> =>
    (await transport.call<Body>({ method: 'PUT', path, body, retry: 'again' })).body
  const ask = async <Body>(path: readonly string[], body: unknown): Promise<Body> =>
    (await transport.call<Body>({ method: 'POST', path, body, retry: 'again' })).body

  const find: RemoteClient['contexts']['find'] = async (id) => {
    const call = { method: 'GET', path: ['contexts', id], retry: 'again' } as const
    const { status, body } = await transport.call<ContextResult>(call)
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
        const { body } = await transport.call<ContextFor<Request>>({
          method: 'POST',
          path: ['threads', thread, 'contexts'],
          body: request,
          deadlineMs,
          prefer: preferWait,
          signal,
          retry: 'refused',
        })
        return body
      },
      find,
      list: ({ thread, ...page }) => get(['threads', thread, 'contexts'], page),
      async get(id) {
        const found = await find(id)
        if (found.status === 'built') return found.context
        throw notFound('context', id, 'it is still being built')
      },
      at: ({ thread, at }) => get(['threads', thread, 'contexts', 'at', at]),
      diff: (before, after) => get(['contexts', before, 'diff', after]),
      async order({ thread, ...request }, { deadlineMs = limits.waitMsMax } = {}) {
        checkDeadline(deadlineMs)
        const prefer = () => `respond-async, ${preferWait(deadlineMs)}`
        const path = ['threads', thread, 'contexts']
        const call = { method: 'POST', path, body: request, prefer, retry: 'refused' } as const
        return (await transport.call<{ id: string }>(call)).body.id
      },
      subscribe: (subscription) => subscribeToContexts(client, subscription),
    },
    threads: {
      async list(page = {}) {
        const { items, nextCursor } = await get<ThreadPage>(['threads'], page)
        return { items: items.map(toThreadSummary), nextCursor }
      },
      get: (thread) => get(['threads', thread]),
      put: (thread, body) => put(['threads', thread], body),
      async delete(thread, { signal, wait = true, reuse = false } = {}) {
        const headers = wait ? {} : { prefer: 'respond-async' }
        const deadlineMs = wait ? limits.waitMsMax : undefined
        const call = {
          method: 'DELETE',
          path: ['threads', thread],
          ...(reuse && { query: { reuse: 'true' } }),
          headers,
          deadlineMs,
          signal,
          retry: 'refused',
        } as const
        return (await transport.call<ErasureResult>(call)).body
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
        const { items, nextCursor } = await get<AgentPage>(['agents'], page)
        return { items: items.map(toAgentSummary), nextCursor }
      },
      async clear(agent, { idempotencyKey = newId(), ...body } = {}) {
        const headers = { 'idempotency-key': idempotencyKey }
        const call: Call = { method: 'POST', path: ['agents', agent, 'clear'], body, headers, retry: 'again' }
        return (await transport.call<ClearResult>(call)).body
      },
    },
    snapshots: {
      async save({ agent, ...body }, { deadlineMs, signal, idempotencyKey = newId() } = {}) {
        const path = ['agents', agent, 'snapshots']
        const prefer = deadlineMs === undefined ? undefined : preferWait
        const headers = { 'idempotency-key': idempotencyKey }
        const call: Call = { method: 'POST', path, body, headers, prefer, deadlineMs, signal, retry: 'again' }
        return (await transport.call<Snapshot>(call)).body
      },
      history: (agent, page) => get(['agents', agent, 'snapshots'], page),
      get: (id) => get(['snapshots', id]),
      async restore(id, { deadlineMs, signal } = {}) {
        const path = ['snapshots', id, 'restore']
        return (await transport.call<Restored>({ method: 'POST', path, deadlineMs, signal, retry: 'again' })).body
      },
    },
    items: itemsOverHttp(transport),
    recall: (request) => ask(['recall'], request),
    async search(request) {
      const { nextCursor: _, ...found } = await ask<SearchResult & Unpaged>(['search'], request)
      return found
    },
    events: {
      follow: (follow) => {
        const signal = closing === undefined ? follow.signal : AbortSignal.any([follow.signal, closing])
        return followOverHttp(transport, { ...follow, signal })
      },
    },
    archive: archiveOverHttp(transport),
  }
  return client
}

/** Every list over HTTP has a cursor, also one that has no second page. */
type Unpaged = { readonly nextCursor: null }
type AgentBody = z.infer<typeof agentSchema>
type AgentPage = z.infer<typeof agentPageSchema>
type ThreadPage = z.infer<typeof threadPageSchema>

/** Times are texts over HTTP and milliseconds in programs. */
function toAgent({ lastClearedAt, createdAt, ...agent }: AgentBody): AgentEntry {
  return { ...agent, lastClearedAtMs: timeMs(lastClearedAt), createdAtMs: Date.parse(createdAt) }
}

function toAgentSummary(summary: AgentPage['items'][number]): AgentSummary {
  const { lastClearedAt, lastMessageAt, createdAt, ...agent } = summary
  const times = { lastClearedAtMs: timeMs(lastClearedAt), lastMessageAtMs: timeMs(lastMessageAt) }
  return { ...agent, ...times, createdAtMs: Date.parse(createdAt) }
}

function toThreadSummary(summary: ThreadPage['items'][number]): ThreadSummary {
  const { agent, lastMessageAt, createdAt, ...thread } = summary
  return { ...thread, agentName: agent, lastMessageAtMs: timeMs(lastMessageAt), createdAtMs: Date.parse(createdAt) }
}

function timeMs(text: string | null): number | null {
  return text === null ? null : Date.parse(text)
}
