import { limits, notFound } from '@heddle/contracts'
import { subscribeToContexts } from '../calls/subscribe.js'
import type { EraseOptions } from '../interface/projects.js'
import { appendOverHttp } from './append.js'
import { appendIterationsOverHttp } from './append-iterations.js'
import { blocksOverHttp } from './blocks.js'
import { buildOverHttp, orderOverHttp } from './build.js'
import { callsOf, pageQuery, requestOf } from './call.js'
import { followOverHttp } from './events.js'
import { itemsOverHttp } from './items.js'
import type { RemoteClient } from './remote-client.js'
import { exportOverHttp, importOverHttp } from './thread-transfer.js'
import { DEADLINE_MS_DEFAULT, preferWait, Transport, type TransportOptions } from './transport.js'

/** A client for the key's project. Creating it sends nothing, and it needs no closing. */
export function createClient(options: TransportOptions): RemoteClient {
  return remoteClientOf(options)
}

/** @param closing aborts the client's calls and streams, with its reason */
export function remoteClientOf(options: TransportOptions, closing?: AbortSignal): RemoteClient {
  const transport = new Transport(options, closing)
  const call = callsOf(transport)
  const client: RemoteClient = {
    messages: {
      append: (append) => appendOverHttp(transport, append),
      list: async ({ thread, ...page }) =>
        (await call('listMessages', { params: { thread }, query: pageQuery(page) })).body,
      ofAgent: async ({ agent, ...query }) => (await call('listAgentMessages', { params: { agent }, query })).body,
      largest: async ({ thread, ...query }) => (await call('listLargestMessages', { params: { thread }, query })).body,
      toolUse: async (thread, query = {}) => (await call('listToolUse', { params: { thread }, query })).body,
      find: async (query) => (await call('findMessages', { query })).body,
      erase: async ({ thread, ...query }, options) =>
        (await call('eraseMessages', { ...erasing(options), params: { thread }, query })).body,
      requestContext: async ({ thread, message }) =>
        thread === undefined
          ? (await call('findRequestContext', { params: { message } })).body
          : (await call('getRequestContext', { params: { thread, message } })).body,
    },
    contexts: {
      build: (request, { deadlineMs = options.deadlineMs, ...others } = {}) =>
        buildOverHttp(call, request, { ...others, ...(deadlineMs !== undefined && { deadlineMs }) }),
      planPruning: async ({ thread, ...query }) => (await call('getPrunePlan', { params: { thread }, query })).body,
      compress: async ({ thread, deadlineMs = DEADLINE_MS_DEFAULT, signal, ...body }) =>
        (await call('compress', { params: { thread }, body, deadlineMs, prefer: preferWait, signal })).body,
      uncompact: async ({ thread, ...body }) => (await call('uncompact', { params: { thread }, body })).body,
      async find(id) {
        const { status, body } = await call('getContext', { params: { context: id } })
        return status === 202 ? { id, status: 'requested' } : { id, status: 'built', context: body }
      },
      list: async ({ thread, ...page }) =>
        (await call('listContexts', { params: { thread }, query: pageQuery(page) })).body,
      async get(id, query) {
        const { status, body } = await call('getContext', { params: { context: id }, query })
        if (status === 200) return body
        throw notFound('context', id, 'it is still being built')
      },
      at: async (params) => (await call('getContextAt', { params })).body,
      diff: async (context, other) => (await call('diffContexts', { params: { context, other } })).body,
      exportOfReplies: (agent, query) =>
        exportOverHttp(transport, requestOf('exportRequestContexts', { params: { agent }, query })),
      order: (request, how = {}) => orderOverHttp(call, request, how),
      subscribe: (subscription) => subscribeToContexts(client, subscription),
    },
    summaries: {
      list: async ({ thread, ...page }) =>
        (await call('listSummaries', { params: { thread }, query: pageQuery(page) })).body,
      messages: async ({ thread, summary, ...page }) =>
        (await call('listSummaryMessages', { params: { thread, summary }, query: pageQuery(page) })).body,
      loss: async ({ thread, compaction, ...query }) =>
        (await call('getLoss', { params: { thread, compaction }, query })).body,
    },
    pins: {
      set: async ({ thread, ...body }) => (await call('pinMessages', { params: { thread }, body })).body,
      remove: async ({ thread, ...query }) => (await call('unpinMessages', { params: { thread }, query })).body,
      list: async ({ thread }) => (await call('listPins', { params: { thread } })).body,
    },
    threads: {
      list: async (page = {}) => (await call('listThreads', { query: pageQuery(page) })).body,
      get: async (thread) => (await call('getThread', { params: { thread } })).body,
      put: async (thread, body) => (await call('putThread', { params: { thread }, body })).body,
      fork: async (thread, body = {}) => (await call('forkThread', { params: { thread }, body })).body,
      ledger: async (thread, { kind, ...page } = {}) =>
        (await call('getLedger', { params: { thread }, query: { kind, ...pageQuery(page) } })).body,
      compare: async (thread, other) => (await call('compareThreads', { params: { thread, other } })).body,
      resumeText: async (thread) => (await call('getResumeText', { params: { thread } })).body,
      delete: async (thread, options) => (await call('deleteThread', { params: { thread }, ...erasing(options) })).body,
      export: (thread) => exportOverHttp(transport, requestOf('exportThread', { params: { thread } })),
      import: (read, options) => importOverHttp(call, read, options),
    },
    processes: {
      put: async (thread, process, body) => (await call('putProcess', { params: { thread, process }, body })).body,
      get: async (thread, process) => (await call('getProcess', { params: { thread, process } })).body,
      list: async (thread, page = {}) =>
        (await call('listProcesses', { params: { thread }, query: pageQuery(page) })).body,
    },
    iterations: {
      append: (options) => appendIterationsOverHttp(call, options),
      loop: async (thread) => (await call('getRunState', { params: { thread } })).body,
      list: async (thread, page = {}) =>
        (await call('listIterations', { params: { thread }, query: pageQuery(page) })).body,
    },
    deadLetters: {
      list: async ({ stage, limit } = {}) => (await call('listDeadLetters', { query: { stage, limit } })).body.items,
      get: async (letter) => (await call('getDeadLetter', { params: { letter } })).body,
      redrive: async ({ stage, id, limit } = {}) =>
        (await call('redriveDeadLetters', { body: { stage, id, limit } })).body,
    },
    keys: {
      create: async (body) => (await call('createKey', { body })).body,
      list: async () => (await call('listKeys', {})).body,
      update: async (key, body) => (await call('updateKey', { params: { key }, body })).body,
      revoke: async (key) => (await call('revokeKey', { params: { key } })).body,
    },
    grants: {
      async offer(project) {
        await call('offerGrant', { params: { project } })
      },
      async accept(project) {
        await call('acceptGrant', { params: { project } })
      },
      async revoke(sides) {
        if ('to' in sides) await call('revokeOfferedGrant', { params: { project: sides.to } })
        else await call('revokeAcceptedGrant', { params: { project: sides.from } })
      },
      list: async () => (await call('listGrants', {})).body,
    },
    agents: {
      put: async (agent, body) => (await call('putAgent', { params: { agent }, body })).body,
      get: async (agent) => (await call('getAgent', { params: { agent } })).body,
      auditMemory: async (agent, page = {}) =>
        (await call('auditMemory', { params: { agent }, query: pageQuery(page) })).body,
      instructions: async (agent) => (await call('listInstructions', { params: { agent } })).body,
      calibration: async (agent) => (await call('listCalibrations', { params: { agent } })).body,
      settings: async (agent) => (await call('listSettings', { params: { agent } })).body,
      list: async (page = {}) => (await call('listAgents', { query: pageQuery(page) })).body,
      delete: async (agent, options) => (await call('deleteAgent', { params: { agent }, ...erasing(options) })).body,
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
      restoreFile: async (agent, body, how = {}) =>
        (await call('restoreSnapshotFile', { params: { agent }, body, ...how })).body,
    },
    stages: {
      list: async () => (await call('listStages', {})).body,
      behind: async () => (await call('listStagesBehind', {})).body,
      scaling: async () => (await call('readScaling', {})).body,
      pause: async (stage) => (await call('pauseStage', { params: { stage } })).body,
      resume: async (stage) => (await call('resumeStage', { params: { stage } })).body,
    },
    proxy: {
      requests: async (page = {}) => (await call('listProxiedRequests', { query: pageQuery(page) })).body,
      request: async ({ id, ...page }) =>
        (await call('getProxiedRequest', { params: { request: id }, query: pageQuery(page) })).body,
      stats: async () => (await call('getProxyStats', {})).body,
    },
    facts: {
      list: async (agent, query = {}) => (await call('listFacts', { params: { agent }, query })).body,
      get: async (agent, fact) => (await call('getFact', { params: { agent, fact } })).body,
      extract: async (thread, body = {}) => (await call('extractFacts', { params: { thread }, body })).body,
      put: async (agent, fact, body) => (await call('putFact', { params: { agent, fact }, body })).body,
      retract: async (agent, fact) => (await call('retractFact', { params: { agent, fact } })).body,
    },
    hooks: {
      claudeCode: async (body, query = {}) => (await call('claudeCodeHook', { body, query })).body,
      codex: async (body, query = {}) => (await call('codexHook', { body, query })).body,
      openCode: async (body, query = {}) => (await call('openCodeHook', { body, query })).body,
    },
    items: itemsOverHttp(call),
    blocks: blocksOverHttp(call),
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

/** The query, the preference and the deadline of an erasure. */
function erasing({ signal, wait = true, reuse }: EraseOptions = {}) {
  const how = wait ? { deadlineMs: limits.waitMsMax } : { prefer: () => 'respond-async' }
  return { query: { reuse }, ...how, signal }
}

/** Every list over HTTP has a cursor, also one that has no second page. */
function unpaged<Found extends { readonly nextCursor: null }>({
  nextCursor: _,
  ...found
}: Found): Omit<Found, 'nextCursor'> {
  return found
}
