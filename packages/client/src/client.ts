import type {
  ArchiveListRequest,
  ArchiveSearchRequest,
  ContextRequest,
  ContextResult,
  ProcessBody,
  RecallRequest,
  RecallResult,
} from '@heddle/contracts'
import { nameSchema, parse } from '@heddle/contracts'
import { projectIdOf } from '@heddle/core'
import { systemClock } from '@heddle/runtime'
import {
  type AgentRow,
  type AgentSummary,
  type DeadLetter,
  ensureProject,
  type ThreadDetailsRow,
  type ThreadSummary,
} from '@heddle/store'
import { type AgentBody, getAgent, listAllAgents, setAgent } from './agents.js'
import { type ArchiveHit, type ArchiveSearchResult, listArchive, searchArchive } from './archive.js'
import { type ClearOptions, type ClearResult, clearWindows } from './clears.js'
import { type BuildOptions, buildContext, getContext } from './contexts.js'
import { type DeadLetterSelection, type RedriveResult, readDeadLetters, redrive } from './dead-letters.js'
import { type EraseOptions, type ErasureResult, eraseAgent, eraseProject, eraseThread } from './erasure.js'
import { type ListMessagesOptions, listMessages, type MessageEntry } from './history.js'
import {
  type AppendIterationsOptions,
  type AppendIterationsResult,
  appendAllIterations,
  getLoop,
  type IterationEntry,
  type ListIterationsOptions,
  type LoopContext,
  listAllIterations,
} from './iterations.js'
import { type AppendOptions, type AppendResult, appendMessages } from './messages.js'
import type { ClientOptions, ClientParts, Page } from './options.js'
import { Ordinals } from './ordinals.js'
import { listThreadProcesses, setProcess, type ThreadProcess } from './processes.js'
import { createProducer, type Producer, type ProducerOptions } from './producer.js'
import { type PlanOptions, type PrunePlan, planPruning } from './prune-plan.js'
import { recall } from './recall.js'
import { setThread, type ThreadBody } from './thread-details.js'
import { exportThread } from './thread-export.js'
import { type ImportedThread, type ImportThreadOptions, importThread } from './thread-import.js'
import {
  getThread,
  type ListThreadsOptions,
  listAllThreads,
  type SettleOptions,
  type ThreadOverview,
  waitUntilSettled,
} from './threads.js'
import { type UncompactOptions, type UncompactResult, uncompact } from './uncompact.js'

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
    build(request: ContextRequest, options?: BuildOptions): Promise<ContextResult>
    get(id: string): Promise<ContextResult>
    /** What a compaction would do now; changes nothing. */
    planPruning(options: PlanOptions): Promise<PrunePlan>
    uncompact(options: UncompactOptions): Promise<UncompactResult>
  }
  readonly threads: {
    list(options?: ListThreadsOptions): Promise<Page<ThreadSummary>>
    get(name: string): Promise<ThreadOverview>
    put(name: string, body: ThreadBody): Promise<ThreadDetailsRow & { readonly agent: string }>
    waitUntilSettled(name: string, options?: SettleOptions): Promise<void>
    /** Erases it for good, with all that was derived from it. */
    delete(name: string, options?: EraseOptions): Promise<ErasureResult>
    /** The lines of a file that holds the thread with its archive, for {@link Client.threads.import}. */
    export(name: string): AsyncIterable<string>
    /** @param read gives the lines of such a file from its beginning, each time that it is called */
    import(read: () => AsyncIterable<string>, options?: ImportThreadOptions): Promise<ImportedThread>
  }
  readonly processes: {
    put(thread: string, name: string, body: ProcessBody): Promise<ThreadProcess>
    list(thread: string, options?: { limit?: number; after?: string }): Promise<Page<ThreadProcess>>
  }
  readonly iterations: {
    append(options: AppendIterationsOptions): Promise<AppendIterationsResult>
    list(thread: string, options?: ListIterationsOptions): Promise<Page<IterationEntry>>
    /** How the thread's loop stands: start, current CLI and model, environment, file events. */
    loop(thread: string): Promise<LoopContext>
  }
  readonly agents: {
    put(name: string, body: AgentBody): Promise<AgentRow>
    get(name: string): Promise<AgentRow>
    list(options?: { limit?: number; after?: string }): Promise<Page<AgentSummary>>
    clear(name: string, options?: ClearOptions): Promise<ClearResult>
    /** Erases it for good, with its threads, items and snapshots. */
    delete(name: string, options?: EraseOptions): Promise<ErasureResult>
  }
  readonly projects: {
    /** Erases the client's own project for good, with everything in it. */
    delete(options?: EraseOptions): Promise<ErasureResult>
  }
  recall(request: RecallRequest): Promise<RecallResult>
  /** What was condensed, without its contents: by thread, kind, path, tool, time, or whether it failed; and by words. */
  readonly archive: {
    list(request?: ArchiveListRequest): Promise<Page<ArchiveHit>>
    search(request: ArchiveSearchRequest): Promise<ArchiveSearchResult>
  }
}

/** A client of one project, on a store and queues that its caller opened and closes. Nothing is sent yet. */
export function createClient(options: ClientOptions): Client {
  const parts = openParts(options)
  return {
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
      build: (request, options) => buildContext(parts, request, options),
      get: (id) => getContext(parts, id),
      planPruning: (options) => planPruning(parts, options),
      uncompact: (options) => uncompact(parts, options),
    },
    threads: {
      list: (options) => listAllThreads(parts, options),
      get: (thread) => getThread(parts, thread),
      put: (thread, body) => setThread(parts, thread, body),
      waitUntilSettled: (thread, options) => waitUntilSettled(parts, thread, options),
      delete: (thread, options) => eraseThread(parts, thread, options),
      export: (thread) => exportThread(parts, thread),
      import: (read, options) => importThread(parts, read, options),
    },
    processes: {
      put: (thread, process, body) => setProcess(parts, thread, process, body),
      list: (thread, options) => listThreadProcesses(parts, thread, options),
    },
    iterations: {
      append: (options) => appendAllIterations(parts, options),
      list: (thread, options) => listAllIterations(parts, thread, options),
      loop: (thread) => getLoop(parts, thread),
    },
    agents: {
      put: (agent, body) => setAgent(parts, agent, body),
      get: (agent) => getAgent(parts, agent),
      list: (options) => listAllAgents(parts, options),
      clear: (agent, options) => clearWindows(parts, agent, options),
      delete: (agent, options) => eraseAgent(parts, agent, options),
    },
    projects: {
      delete: (options) => eraseProject(parts, options),
    },
    recall: (request) => recall(parts, request),
    archive: {
      list: (request = {}) => listArchive(parts, request),
      search: (request) => searchArchive(parts, request),
    },
  }
}

function openParts(options: ClientOptions): ClientParts {
  const { store, queues, project = 'default', settings = {}, log, clock = systemClock } = options
  const name = parse(nameSchema, project, 'project')
  const projectId = projectIdOf(name)
  let telling: Promise<void> | undefined
  let isTold = false
  const tellProject = () => {
    if (isTold) return null
    telling ??= store
      .inProject(projectId, (tx) => ensureProject(tx, { projectId, name }))
      .then(() => {
        isTold = true
      })
      .finally(() => {
        telling = undefined
      })
    return telling
  }
  return { store, queues, project: name, projectId, settings, log, clock, ordinals: new Ordinals(), tellProject }
}
