import { subscribeToContexts } from '@heddle/client/calls'
import type { BuildOptions, BuildRequest, Client, WithAppended } from '@heddle/client/interface'
import type { ContextFor } from '@heddle/contracts'
import { agentsClient, snapshotsClient } from './agents/agents-client.js'
import { blocksClient } from './blocks/blocks-client.js'
import { appendAndBuild, appendAndOrder } from './contexts/append-and-build.js'
import { compress } from './contexts/compress.js'
import { lastContextAt } from './contexts/context-at.js'
import { listThreadContexts } from './contexts/context-list.js'
import { compareContexts, findContext, getContext } from './contexts/contexts.js'
import { lossOf } from './contexts/loss.js'
import { listPins, pinMessages, unpinMessages } from './contexts/pins.js'
import { planPruning } from './contexts/prune-plan.js'
import { exportRequestContexts, requestContextOf } from './contexts/request-contexts.js'
import { listSummaries, listSummaryMessages } from './contexts/summaries.js'
import { uncompact } from './contexts/uncompact.js'
import { followEvents } from './events/events.js'
import { factsClient } from './facts/facts-client.js'
import { hooksClient } from './hooks/hooks-client.js'
import { itemsClient } from './items/items-client.js'
import { findMessages, listAgentMessages } from './messages/across-threads.js'
import { listMessages } from './messages/history.js'
import { listLargestMessages } from './messages/largest.js'
import { appendMessages } from './messages/messages.js'
import { createProducer } from './messages/producer.js'
import { listToolUse } from './messages/tool-use.js'
import { getDeadLetter, listAllDeadLetters, redrive } from './projects/dead-letters.js'
import { eraseMessages } from './projects/message-erasure.js'
import { grantsClient, keysClient, projectsClient } from './projects/projects-client.js'
import { stagesClient } from './projects/stages-client.js'
import { listRelayed, proxyTotals } from './proxied/proxied-requests.js'
import { viewRelayed } from './proxied/proxied-views.js'
import { listArchive, searchArchive } from './recall/archive.js'
import { recall } from './recall/recall.js'
import { search } from './recall/search.js'
import { createContext } from './setup/create-context.js'
import type { ClientOptions } from './setup/options.js'
import { iterationsClient, processesClient, threadsClient } from './threads/threads-client.js'

/** A client of one project, on a store and queues that its caller opened and closes. Nothing is sent yet. */
export function createClient(options: ClientOptions): Client {
  const parts = createContext(options)
  const client: Client = {
    messages: {
      append: (append) => appendMessages(parts, append),
      producer: (producer) => createProducer(parts, producer),
      list: (listing) => listMessages(parts, listing),
      ofAgent: (listing) => listAgentMessages(parts, listing),
      largest: (listing) => listLargestMessages(parts, listing),
      toolUse: (thread, options) => listToolUse(parts, thread, options),
      find: (listing) => findMessages(parts, listing),
      erase: (selected, options) => eraseMessages(parts, selected, options),
      requestContext: (message) => requestContextOf(parts, message),
    },
    deadLetters: {
      list: (selection = {}) => listAllDeadLetters(parts, selection),
      get: (id) => getDeadLetter(parts, id),
      redrive: (selection = {}) => redrive(parts, selection),
    },
    contexts: {
      // The cast is safe: a context is validated against its format before it is stored.
      build: <Request extends BuildRequest>(request: Request, options?: BuildOptions) =>
        appendAndBuild(parts, request, options) as Promise<ContextFor<Request> & WithAppended>,
      get: (id, options) => getContext(parts, id, options),
      at: (moment) => lastContextAt(parts, moment),
      diff: (before, after) => compareContexts(parts, before, after),
      list: (listing) => listThreadContexts(parts, listing),
      order: (request, options) => appendAndOrder(parts, request, options),
      find: (id) => findContext(parts, id),
      planPruning: (options) => planPruning(parts, options),
      exportOfReplies: (agent, options) => exportRequestContexts(parts, agent, options),
      compress: (options) => compress(parts, options),
      uncompact: (options) => uncompact(parts, options),
      subscribe: (options) => subscribeToContexts(client, options),
    },
    summaries: {
      list: (options) => listSummaries(parts, options),
      messages: (options) => listSummaryMessages(parts, options),
      loss: (options) => lossOf(parts, options),
    },
    pins: {
      set: (options) => pinMessages(parts, options),
      remove: (options) => unpinMessages(parts, options),
      list: (options) => listPins(parts, options),
    },
    threads: threadsClient(parts),
    processes: processesClient(parts),
    iterations: iterationsClient(parts),
    agents: agentsClient(parts),
    facts: factsClient(parts),
    hooks: hooksClient(parts),
    items: itemsClient(parts),
    blocks: blocksClient(parts),
    projects: projectsClient(parts),
    keys: keysClient(parts),
    grants: grantsClient(parts),
    snapshots: snapshotsClient(parts),
    stages: stagesClient(parts),
    proxy: {
      requests: (listing = {}) => listRelayed(parts, listing),
      request: (options) => viewRelayed(parts, options),
      stats: () => proxyTotals(parts),
    },
    recall: (request) => recall(parts, request),
    search: (request) => search(parts, request),
    events: {
      follow: (options) => followEvents(parts, options),
    },
    archive: {
      list: (request = {}) => listArchive(parts, request),
      search: (request) => searchArchive(parts, request),
    },
  }
  return client
}
