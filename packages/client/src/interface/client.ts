import type {
  AppendResult,
  ArchiveHit,
  ArchiveListRequest,
  ArchiveSearchRequest,
  ArchiveSearchResult,
  CompressOptions,
  CompressResult,
  ContextDiff,
  ContextFor,
  ContextResult,
  ContextSummary,
  DeadLetterDetails,
  DeadLetterEntry,
  EraseMessagesOptions,
  ErasureResult,
  LargestMessage,
  LossOptions,
  LossReport,
  MessageEntry,
  PinEntry,
  PinOptions,
  PinResult,
  PlanOptions,
  PrunePlan,
  RecallRequest,
  RecallResult,
  RedriveResult,
  ReplyName,
  RequestContext,
  RequestContextsQuery,
  SearchRequest,
  SearchResult,
  SummarizedMessage,
  SummaryNode,
  ToolUse,
  ToolUseOptions,
  UncompactOptions,
  UncompactResult,
  UnpinOptions,
} from '@heddle/contracts'
import type { subscribeToContexts } from '../calls/subscribe.js'
import type { AgentsClient, SnapshotsClient } from './agents.js'
import type { BlocksClient } from './blocks.js'
import type {
  BuildOptions,
  BuildRequest,
  ContextListOptions,
  GetOptions,
  MomentOptions,
  RequestedContext,
  WithAppended,
} from './contexts.js'
import type { FollowedEvents, FollowOptions, SubscribeOptions } from './events.js'
import type { FactsClient } from './facts.js'
import type { HooksClient } from './hooks.js'
import type { ItemsClient } from './items.js'
import type {
  AppendOptions,
  FindMessagesOptions,
  LargestMessagesOptions,
  ListAgentMessagesOptions,
  ListMessagesOptions,
  Producer,
  ProducerOptions,
} from './messages.js'
import type { Page, PageOptions } from './pages.js'
import type { DeadLetterSelection, EraseOptions, GrantsClient, KeysClient, ProjectsClient } from './projects.js'
import type { ProxyClient } from './proxy.js'
import type { StagesClient } from './stages.js'
import type { IterationsClient, ProcessesClient, ThreadsClient } from './threads.js'

/** Heddle's interface for producers and agents inside its network: over the queue and the store. */
export interface Client {
  readonly messages: {
    append(options: AppendOptions): Promise<AppendResult>
    /** For many callers with one message each: collects their messages into batches. */
    producer(options: ProducerOptions): Producer
    /** The history of a thread. */
    list(options: ListMessagesOptions): Promise<Page<MessageEntry>>
    /** The history of an agent over all of its threads. */
    ofAgent(options: ListAgentMessagesOptions): Promise<Page<MessageEntry>>
    /** The messages of a thread, or the results of one tool, the largest first, with the beginnings of their contents. */
    largest(options: LargestMessagesOptions): Promise<Page<LargestMessage>>
    /**
     * The tools of a thread, with the number and tokens of their results, the most tokens first; with a context, also those
     * that it shows.
     */
    toolUse(thread: string, options?: ToolUseOptions): Promise<Page<ToolUse>>
    /** The messages with an id at their source, newest first: a reply belongs to the thread of one of them. */
    find(options: FindMessagesOptions): Promise<Page<MessageEntry>>
    /**
     * Permanently erases a message or a range, with the calls and results that belong to them and everything that was derived
     * from them. The messages stay in the history without content. Messages that were erased before are not counted.
     *
     * @throws PermanentError `NOT_FOUND` for an unknown message, `VALIDATION_ERROR` for more than 10,000 at once
     */
    erase(messages: EraseMessagesOptions, options?: Omit<EraseOptions, 'reuse'>): Promise<ErasureResult>
    /** The request context of a reply: the items that its context showed, with details, and the sizes of its sections. */
    requestContext(reply: ReplyName): Promise<RequestContext>
  }
  readonly deadLetters: {
    /** Jobs that failed permanently, newest first: those of the project, and those that name no project. */
    list(selection?: DeadLetterSelection): Promise<DeadLetterEntry[]>
    /** One of the project's own, with the beginning of its payload. */
    get(id: string): Promise<DeadLetterDetails>
    redrive(selection?: DeadLetterSelection): Promise<RedriveResult>
  }
  readonly contexts: {
    /**
     * Appends the messages of `append`, if any, and builds a context. If the type of `request` contains the format, the
     * messages of the context have the types of the provider's package.
     *
     * @throws HeddleError with the fact `appended` if the messages were stored and the context could not be built
     */
    build<Request extends BuildRequest>(
      request: Request,
      options?: BuildOptions,
    ): Promise<ContextFor<Request> & WithAppended>
    /** The contexts of a thread, newest first, without their messages. */
    list(options: ContextListOptions): Promise<Page<ContextSummary>>
    /** A context as it was delivered. */
    get(id: string, options?: GetOptions): Promise<ContextResult>
    /** The last context of a thread that was built up to a moment. */
    at(moment: MomentOptions): Promise<ContextResult>
    /** The difference between two contexts. */
    diff(before: string, after: string): Promise<ContextDiff>
    /** Requests a context without waiting for it; returns its id. */
    order(request: BuildRequest, options?: Pick<BuildOptions, 'deadlineMs' | 'idempotencyKey'>): Promise<string>
    find(id: string): Promise<RequestedContext>
    /** Previews a compaction; changes nothing. */
    planPruning(options: PlanOptions): Promise<PrunePlan>
    /** The request contexts of all replies of an agent, oldest first, as JSON lines. */
    exportOfReplies(agent: string, options?: RequestContextsQuery): AsyncIterable<string>
    /** Compacts a thread now, and waits for its summary. */
    compress(options: CompressOptions): Promise<CompressResult>
    uncompact(options: UncompactOptions): Promise<UncompactResult>
    /** The contexts of the project, or of a thread, as they are built. */
    subscribe(options: SubscribeOptions): ReturnType<typeof subscribeToContexts>
  }
  /** Pins of stored messages, which no compaction changes. */
  readonly pins: {
    set(options: PinOptions): Promise<PinResult>
    remove(options: UnpinOptions): Promise<PinResult>
    /** A thread has at most 1,000 pins, so the list has one page. */
    list(options: { readonly thread: string }): Promise<Page<PinEntry>>
  }
  /** The summaries of a thread that are in force, and the messages behind each (docs/summaries.md#walking-the-summaries). */
  readonly summaries: {
    list(options: PageOptions & { readonly thread: string }): Promise<Page<SummaryNode>>
    messages(
      options: PageOptions & { readonly thread: string; readonly summary: string },
    ): Promise<Page<SummarizedMessage>>
    /** Which details of its messages a compaction kept, and which it lost (docs/summaries.md#what-a-compaction-lost). */
    loss(options: LossOptions): Promise<LossReport>
  }
  readonly threads: ThreadsClient
  readonly processes: ProcessesClient
  readonly iterations: IterationsClient
  readonly agents: AgentsClient
  /** The rules, references and tools of agents, and those of threads (docs/items.md). */
  readonly items: ItemsClient
  readonly blocks: BlocksClient
  readonly projects: ProjectsClient
  /** Keys for the project at the gateway. */
  readonly keys: KeysClient
  /** Recall between projects: one side offers a grant, the other accepts it. */
  readonly grants: GrantsClient
  readonly snapshots: SnapshotsClient
  readonly stages: StagesClient
  readonly proxy: ProxyClient
  readonly facts: FactsClient
  readonly hooks: HooksClient
  recall(request: RecallRequest): Promise<RecallResult>
  /** Finds messages by words and vectors: in one thread, in the threads of an agent, or in the whole project. */
  search(request: SearchRequest): Promise<SearchResult>
  readonly events: {
    /** The events of the project from a number on, without end and without gaps, until `signal` is aborted. */
    follow(options: FollowOptions): Promise<FollowedEvents>
  }
  /** Archived messages, without their contents: by thread, kind, path, tool, time, or failure; by words and meaning. */
  readonly archive: {
    list(request?: ArchiveListRequest): Promise<Page<ArchiveHit>>
    search(request: ArchiveSearchRequest): Promise<ArchiveSearchResult>
  }
}
