import type { ProcessBody } from '@heddle/contracts'
import type { ThreadDetailsRow, ThreadSummary } from '@heddle/store'
import { type EraseOptions, type ErasureResult, eraseThread } from '../projects/erasure.js'
import type { PageOptions } from '../setup/cursors.js'
import type { ClientParts, Page } from '../setup/options.js'
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
import { getProcess, listThreadProcesses, setProcess, type ThreadProcess } from './processes.js'
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

export interface ThreadsClient {
  list(options?: ListThreadsOptions): Promise<Page<ThreadSummary>>
  get(name: string): Promise<ThreadOverview>
  put(name: string, body: ThreadBody): Promise<ThreadDetailsRow & { readonly agent: string }>
  waitUntilSettled(name: string, options?: SettleOptions): Promise<void>
  /** Erases it for good, with all that was derived from it. */
  delete(name: string, options?: EraseOptions): Promise<ErasureResult>
  /** The lines of a file that holds the thread with its archive, for {@link ThreadsClient.import}. */
  export(name: string): AsyncIterable<string>
  /** @param read gives the lines of such a file from its beginning, each time that it is called */
  import(read: () => AsyncIterable<string>, options?: ImportThreadOptions): Promise<ImportedThread>
}

export function threadsClient(parts: ClientParts): ThreadsClient {
  return {
    list: (options) => listAllThreads(parts, options),
    get: (thread) => getThread(parts, thread),
    put: (thread, body) => setThread(parts, thread, body),
    waitUntilSettled: (thread, options) => waitUntilSettled(parts, thread, options),
    delete: (thread, options) => eraseThread(parts, thread, options),
    export: (thread) => exportThread(parts, thread),
    import: (read, options) => importThread(parts, read, options),
  }
}

export interface ProcessesClient {
  put(thread: string, name: string, body: ProcessBody): Promise<ThreadProcess>
  get(thread: string, name: string): Promise<ThreadProcess>
  list(thread: string, options?: PageOptions): Promise<Page<ThreadProcess>>
}

export function processesClient(parts: ClientParts): ProcessesClient {
  return {
    put: (thread, process, body) => setProcess(parts, thread, process, body),
    get: (thread, process) => getProcess(parts, thread, process),
    list: (thread, options) => listThreadProcesses(parts, thread, options),
  }
}

export interface IterationsClient {
  append(options: AppendIterationsOptions): Promise<AppendIterationsResult>
  list(thread: string, options?: ListIterationsOptions): Promise<Page<IterationEntry>>
  /** How the thread's loop stands: start, current CLI and model, environment, file events. */
  loop(thread: string): Promise<LoopContext>
}

export function iterationsClient(parts: ClientParts): IterationsClient {
  return {
    append: (options) => appendAllIterations(parts, options),
    list: (thread, options) => listAllIterations(parts, thread, options),
    loop: (thread) => getLoop(parts, thread),
  }
}
