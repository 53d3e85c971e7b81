import type {
  ArchiveListRequest,
  ArchiveSearchRequest,
  ContextDiff,
  ContextRequest,
  ContextResult,
  ContextSummary,
  RecallRequest,
  RecallResult,
  SearchRequest,
} from '@heddle/contracts'
import type { ContextFor } from '@heddle/core'
import type { DeadLetter } from '@heddle/store'
import { type AgentsClient, agentsClient, type SnapshotsClient, snapshotsClient } from './agents/agents-client.js'
import { type SubscribeOptions, subscribeToContexts } from './calls/subscribe.js'
import { type BuildOptions, buildContext } from './contexts/build-context.js'
import { lastContextAt, type MomentOptions } from './contexts/context-at.js'
import { type ContextListOptions, listThreadContexts } from './contexts/context-list.js'
import {
  compareContexts,
  findContext,
  type GetOptions,
  getContext,
  orderContext,
  type RequestedContext,
} from './contexts/contexts.js'
import { type PlanOptions, type PrunePlan, planPruning } from './contexts/prune-plan.js'
import { type UncompactOptions, type UncompactResult, uncompact } from './contexts/uncompact.js'
import { type FollowedEvents, type FollowOptions, followEvents } from './events/events.js'
import { type ItemsClient, itemsClient } from './items/items-client.js'
import { type ListMessagesOptions, listMessages, type MessageEntry } from './messages/history.js'
import { type AppendOptions, type AppendResult, appendMessages } from './messages/messages.js'
import { createProducer, type Producer, type ProducerOptions } from './messages/producer.js'
import { type DeadLetterSelection, type RedriveResult, readDeadLetters, redrive } from './projects/dead-letters.js'
import {
  type GrantsClient,
  grantsClient,
  type KeysClient,
  keysClient,
  type ProjectsClient,
  projectsClient,
} from './projects/projects-client.js'
import { type ArchiveHit, type ArchiveSearchResult, listArchive, searchArchive } from './recall/archive.js'
import { recall } from './recall/recall.js'
import { type SearchResult, search } from './recall/search.js'
import { openParts } from './setup/open-parts.js'
import type { ClientOptions, Page } from './setup/options.js'
import {
  type IterationsClient,
  iterationsClient,
  type ProcessesClient,
  processesClient,
  type ThreadsClient,
  threadsClient,
} from './threads/threads-client.js'

/** What producers and agents do with Heddle from inside its network: through the queue and the store. */
export interface Client {
  readonly messages: {
    append(options: AppendOptions): Promise<AppendResult>
    /** For many callers with a message each: gathers theirs into batches. */
    producer(options: ProducerOptions): Producer
    list(options: ListMessagesOptions): Promise<Page<MessageEntry>>
  }
  readonly deadLetters: {
    /** Jobs that failed for good, newest first: those of the project, and those that name none. */
    list(selection?: DeadLetterSelection): Promise<DeadLetter[]>
    redrive(selection?: DeadLetterSelection): Promise<RedriveResult>
  }
  readonly contexts: {
    /** Where the type of `request` tells the format, the messages are typed as the provider's package takes them. */
    build<Request extends ContextRequest>(request: Request, options?: BuildOptions): Promise<ContextFor<Request>>
    /** The contexts of a thread, newest first, without their messages. */
    list(options: ContextListOptions): Promise<Page<ContextSummary>>
    /** A context as it was delivered. */
    get(id: string, options?: GetOptions): Promise<ContextResult>
    /** The last context of a thread that was built up to a moment. */
    at(moment: MomentOptions): Promise<ContextResult>
    /** What became of one context in another. */
    diff(before: string, after: string): Promise<ContextDiff>
    /** Asks for a context without waiting for it; gives its id. */
    order(request: ContextRequest, options?: Pick<BuildOptions, 'deadlineMs'>): Promise<string>
    /** How a context stands that was asked for. */
    find(id: string): Promise<RequestedContext>
    /** What a compaction would do now; changes nothing. */
    planPruning(options: PlanOptions): Promise<PrunePlan>
    uncompact(options: UncompactOptions): Promise<UncompactResult>
    /** The contexts of the project, or of a thread, as they are built. */
    subscribe(options: SubscribeOptions): ReturnType<typeof subscribeToContexts>
  }
  readonly threads: ThreadsClient
  readonly processes: ProcessesClient
  readonly iterations: IterationsClient
  readonly agents: AgentsClient
  /** The rules, references and tools of agents, and those that threads hold (docs/items.md). */
  readonly items: ItemsClient
  readonly projects: ProjectsClient
  /** Who may ask the gateway about the project. */
  readonly keys: KeysClient
  /** What projects may recall from each other: one side offers, the other accepts. */
  readonly grants: GrantsClient
  readonly snapshots: SnapshotsClient
  recall(request: RecallRequest): Promise<RecallResult>
  /** Finds messages by words and vectors: in one thread, in the threads of an agent, or in the whole project. */
  search(request: SearchRequest): Promise<SearchResult>
  readonly events: {
    /** The events of the project from a number on, without end and without gaps, until `signal` is aborted. */
    follow(options: FollowOptions): Promise<FollowedEvents>
  }
  /** What was condensed, without its contents: by thread, kind, path, tool, time, or whether it failed; by words and meaning. */
  readonly archive: {
    list(request?: ArchiveListRequest): Promise<Page<ArchiveHit>>
    search(request: ArchiveSearchRequest): Promise<ArchiveSearchResult>
  }
}

/** A client of one project, on a store and queues that its caller opened and closes. Nothing is sent yet. */
export function createClient(options: ClientOptions): Client {
  const parts = openParts(options)
  const client: Client = {
    messages: {
      append: (append) => appendMessages(parts, append),
      producer: (producer) => createProducer(parts, producer),
      list: (listing) => listMessages(parts, listing),
    },
    deadLetters: {
      list: (selection = {}) => readDeadLetters(parts, selection),
      redrive: (selection = {}) => redrive(parts, selection),
    },
    contexts: {
      // What is built is held to the rules of its format before it is stored.
      build: <Request extends ContextRequest>(request: Request, options?: BuildOptions) =>
        buildContext(parts, request, options) as Promise<ContextFor<Request>>,
      get: (id, options) => getContext(parts, id, options),
      at: (moment) => lastContextAt(parts, moment),
      diff: (before, after) => compareContexts(parts, before, after),
      list: (listing) => listThreadContexts(parts, listing),
      order: (request, options) => orderContext(parts, request, options),
      find: (id) => findContext(parts, id),
      planPruning: (options) => planPruning(parts, options),
      uncompact: (options) => uncompact(parts, options),
      subscribe: (options) => subscribeToContexts(client, options),
    },
    threads: threadsClient(parts),
    processes: processesClient(parts),
    iterations: iterationsClient(parts),
    agents: agentsClient(parts),
    items: itemsClient(parts),
    projects: projectsClient(parts),
    keys: keysClient(parts),
    grants: grantsClient(parts),
    snapshots: snapshotsClient(parts),
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
