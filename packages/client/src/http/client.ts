import { type ContextFor, type ContextRequest, limits, notFound } from '@heddle/contracts'
import { checkDeadline } from '../calls/deadline.js'
import { subscribeToContexts } from '../calls/subscribe.js'
import type { BuildOptions } from '../interface/contexts.js'
import type { PageOptions } from '../interface/pages.js'
import { appendOverHttp } from './append.js'
import { callsOf } from './call.js'
import { followOverHttp } from './events.js'
import { itemsOverHttp } from './items.js'
import type { RemoteClient } from './remote-client.js'
import { preferWait, Transport, type TransportOptions } from './transport.js'

/** A client of the project that the key belongs to. Nothing is sent yet, and there is nothing to close. */
export function createClient(options: TransportOptions): RemoteClient {
  return remoteClientOf(options)
}

/** @param closing ends the calls and the streams of the client, with its reason */
export function remoteClientOf(options: TransportOptions, closing?: AbortSignal): RemoteClient {
  const transport = new Transport(options, closing)
  const call = callsOf(transport)
  const client: RemoteClient = {
    messages: {
      append: (append) => appendOverHttp(transport, append),
      list: async ({ thread, ...page }) =>
        (await call('listMessages', { params: { thread }, query: pageQuery(page) })).body,
    },
    contexts: {
      async build<Request extends ContextRequest>(
        { thread, ...body }: Request,
        { deadlineMs = options.deadlineMs, signal }: BuildOptions = {},
      ) {
        const answer = await call('buildContext', { params: { thread }, body, deadlineMs, prefer: preferWait, signal })
        // In the format that the request names.
        return answer.body as ContextFor<Request>
      },
      async find(id) {
        const { status, body } = await call('getContext', { params: { context: id } })
        return status === 202 ? { id, status: 'requested' } : { id, status: 'built', context: body }
      },
      list: async ({ thread, ...page }) =>
        (await call('listContexts', { params: { thread }, query: pageQuery(page) })).body,
      async get(id) {
        const found = await client.contexts.find(id)
        if (found.status === 'built') return found.context
        throw notFound('context', id, 'it is still being built')
      },
      at: async (params) => (await call('getContextAt', { params })).body,
      diff: async (context, other) => (await call('diffContexts', { params: { context, other } })).body,
      async order({ thread, ...body }, { deadlineMs = limits.waitMsMax } = {}) {
        checkDeadline(deadlineMs)
        const prefer = () => `respond-async, ${preferWait(deadlineMs)}`
        return (await call('buildContext', { params: { thread }, body, prefer })).body.id
      },
      subscribe: (subscription) => subscribeToContexts(client, subscription),
    },
    threads: {
      list: async (page = {}) => (await call('listThreads', { query: pageQuery(page) })).body,
      get: async (thread) => (await call('getThread', { params: { thread } })).body,
      put: async (thread, body) => (await call('putThread', { params: { thread }, body })).body,
      async delete(thread, { signal, wait = true, reuse } = {}) {
        const how = wait ? { deadlineMs: limits.waitMsMax } : { prefer: () => 'respond-async' }
        return (await call('deleteThread', { params: { thread }, query: { reuse }, ...how, signal })).body
      },
    },
    processes: {
      put: async (thread, process, body) => (await call('putProcess', { params: { thread, process }, body })).body,
      get: async (thread, process) => (await call('getProcess', { params: { thread, process } })).body,
      list: async (thread, page = {}) =>
        (await call('listProcesses', { params: { thread }, query: pageQuery(page) })).body,
    },
    iterations: {
      append: async ({ thread, ...body }) => (await call('appendIterations', { params: { thread }, body })).body,
      list: async (thread, page = {}) =>
        (await call('listIterations', { params: { thread }, query: pageQuery(page) })).body,
    },
    agents: {
      put: async (agent, body) => (await call('putAgent', { params: { agent }, body })).body,
      get: async (agent) => (await call('getAgent', { params: { agent } })).body,
      list: async (page = {}) => (await call('listAgents', { query: pageQuery(page) })).body,
      clear: async (agent, { idempotencyKey, ...body } = {}) =>
        (await call('clearAgent', { params: { agent }, body, idempotencyKey })).body,
    },
    snapshots: {
      async save({ agent, ...body }, { deadlineMs, signal, idempotencyKey } = {}) {
        const prefer = deadlineMs === undefined ? undefined : preferWait
        const how = { prefer, deadlineMs, signal, idempotencyKey }
        return (await call('saveSnapshot', { params: { agent }, body, ...how })).body
      },
      history: async (agent, page = {}) =>
        (await call('listSnapshots', { params: { agent }, query: pageQuery(page) })).body,
      get: async (snapshot) => (await call('getSnapshot', { params: { snapshot } })).body,
      restore: async (snapshot, how = {}) => (await call('restoreSnapshot', { params: { snapshot }, ...how })).body,
    },
    items: itemsOverHttp(call),
    recall: async (body) => (await call('recall', { body })).body,
    search: async (body) => unpaged((await call('search', { body })).body),
    events: {
      follow: (follow) => {
        const signal = closing === undefined ? follow.signal : AbortSignal.any([follow.signal, closing])
        return followOverHttp(transport, { ...follow, signal })
      },
    },
    archive: {
      list: async (page = {}) => (await call('listArchive', { query: pageQuery(page) })).body,
      search: async (body) => unpaged((await call('searchArchive', { body })).body),
    },
  }
  return client
}

/** The place in a list, also under the name that it had. */
export function pageQuery<Page extends PageOptions>({ after, cursor = after, ...others }: Page) {
  return { ...others, cursor }
}

/** Every list over HTTP has a cursor, also one that has no second page. */
function unpaged<Found extends { readonly nextCursor: null }>({
  nextCursor: _,
  ...found
}: Found): Omit<Found, 'nextCursor'> {
  return found
}
