import type {
  AppendIterationsResult,
  AtomKind,
  ErasureResult,
  ForkBody,
  ForkedThread,
  ImportedThread,
  IterationEntry,
  Ledger,
  ProcessBody,
  ResumeText,
  RunState,
  ThreadBody,
  ThreadComparison,
  ThreadEntry,
  ThreadOverview,
  ThreadProcess,
  ThreadSummary,
} from '@heddle/contracts'
import type { AppendIterationsOptions, ListIterationsOptions } from './iterations.js'
import type { Page, PageOptions } from './pages.js'
import type { EraseOptions } from './projects.js'

export interface ImportThreadOptions {
  /** The name of the thread here. Default: its name in the export. */
  readonly as?: string
  readonly onProgress?: (messages: number) => void
}

export interface LedgerOptions extends PageOptions {
  readonly kind?: AtomKind | undefined
}

export interface ThreadsClient {
  list(options?: ListThreadsOptions): Promise<Page<ThreadSummary>>
  get(name: string): Promise<ThreadOverview>
  put(name: string, body: ThreadBody): Promise<ThreadEntry>
  /** The text with which an agent goes on in a thread: at most 10,000 characters, made by rules. */
  resumeText(name: string): Promise<ResumeText>
  /**
   * Creates a thread that shares the messages of this one up to a moment, without copying them. A repeat with the same name
   * and moment returns the fork.
   *
   * @throws ConflictError if the name was used by another thread, or the thread has iterations
   */
  fork(name: string, body?: ForkBody): Promise<ForkedThread>
  /** Files, commands, errors and other details of its messages, with their last states (docs/summaries.md#the-ledger). */
  ledger(name: string, options?: LedgerOptions): Promise<Ledger>
  /** How far two threads share their messages, and how many each has besides. */
  compare(name: string, other: string): Promise<ThreadComparison>
  waitUntilSettled(name: string, options?: SettleOptions): Promise<void>
  /**
   * Permanently erases it, with all derived data.
   *
   * @throws ConflictError while forks share its messages
   */
  delete(name: string, options?: EraseOptions): Promise<ErasureResult>
  /** The lines of a file with the thread and its archive, for {@link ThreadsClient.import}. */
  export(name: string): AsyncIterable<string>
  /** @param read returns the lines of such a file from its beginning, each time it is called */
  import(read: () => AsyncIterable<string>, options?: ImportThreadOptions): Promise<ImportedThread>
}

export interface ProcessesClient {
  put(thread: string, name: string, body: ProcessBody): Promise<ThreadProcess>
  get(thread: string, name: string): Promise<ThreadProcess>
  list(thread: string, options?: PageOptions): Promise<Page<ThreadProcess>>
}

export interface IterationsClient {
  append(options: AppendIterationsOptions): Promise<AppendIterationsResult>
  list(thread: string, options?: ListIterationsOptions): Promise<Page<IterationEntry>>
  /** The state of the thread's run: start, current CLI and model, environment, file events. */
  loop(thread: string): Promise<RunState>
}

export interface ListThreadsOptions extends PageOptions {
  readonly agent?: string | undefined
  /** Only threads whose name or title contains this text, whatever its case. */
  readonly search?: string | undefined
}

export interface SettleOptions {
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (overview: {
    headSeq: number
    cursors: ThreadOverview['cursors']
    /** Whether the progress summary covers all iterations. */
    isProgressKept: boolean
  }) => void
}
