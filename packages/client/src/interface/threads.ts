import type {
  ExportRecord,
  FormatName,
  ProcessBody,
  PruningCounts,
  SummaryCosts,
  ThreadDetails,
  ThreadEntry,
  ThreadSummary,
} from '@heddle/contracts'
import type {
  AppendIterationsOptions,
  AppendIterationsResult,
  IterationEntry,
  ListIterationsOptions,
  LoopContext,
} from './iterations.js'
import type { Page, PageOptions } from './pages.js'
import type { EraseOptions, ErasureResult } from './projects.js'

/** How a process of a thread stands. */
export interface ThreadProcess {
  readonly name: string
  readonly version: number
  readonly status: string
  readonly isRunning: boolean
  readonly endedAt: string | null
  readonly updatedAt: string
}

export interface ThreadBody extends ThreadDetails {
  /** The agent that the thread belongs to; both are made where they are missing. */
  readonly agent: string
}

export interface ImportThreadOptions {
  /** The name of the thread here. Default: the one that it was exported under. */
  readonly as?: string
  readonly onProgress?: (messages: number) => void
}

export interface ImportedThread {
  readonly thread: string
  readonly agent: string
  /** Rows that this import added, by the type of their records. */
  readonly added: Readonly<Partial<Record<ExportRecord['type'], number>>>
  /** Messages of the file. */
  readonly messages: number
}

export interface ThreadsClient {
  list(options?: ListThreadsOptions): Promise<Page<ThreadSummary>>
  get(name: string): Promise<ThreadOverview>
  put(name: string, body: ThreadBody): Promise<ThreadEntry & { readonly agent: string }>
  waitUntilSettled(name: string, options?: SettleOptions): Promise<void>
  /** Erases it for good, with all that was derived from it. */
  delete(name: string, options?: EraseOptions): Promise<ErasureResult>
  /** The lines of a file that holds the thread with its archive, for {@link ThreadsClient.import}. */
  export(name: string): AsyncIterable<string>
  /** @param read gives the lines of such a file from its beginning, each time that it is called */
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
  /** How the thread's loop stands: start, current CLI and model, environment, file events. */
  loop(thread: string): Promise<LoopContext>
}

/** How a thread stands: what is stored of it, and how far the pipeline has come. */
export interface ThreadOverview {
  readonly threadId: string
  readonly name: string
  readonly code: string
  readonly agent: string
  readonly title: string | null
  readonly goal: string | null
  readonly status: string | null
  readonly messages: number
  /** Messages that a context may show, by kind; `imported` less those that a clear or the window hides. */
  readonly eligible: number
  readonly imported: number
  /** Those that a clear or the window hides. */
  readonly hidden: { readonly outsideWindow: number; readonly beforeClear: number }
  /** What keeps messages out of contexts, and what to do about it. */
  readonly warnings: readonly string[]
  /** Messages that no context shows, by reason. */
  readonly keptAside: Readonly<Record<string, number>>
  readonly byRole: Readonly<Record<string, number>>
  readonly toolCalls: number
  readonly toolResults: number
  /** Of the messages that a context may show, all that is sent of them: text, calls and reasoning. */
  readonly tokens: number
  /** The part of `tokens` that reasoning takes, signatures included. */
  readonly reasoningTokens: number
  /** Messages whose tokens are estimated so far. */
  readonly uncounted: number
  /** What all of them take verbatim in each format, within a twentieth. */
  readonly sentTokens: Readonly<Record<FormatName, number>>
  readonly headSeq: number
  readonly cursors: { readonly prune: number; readonly summarize: number; readonly embed: number }
  readonly lastError: string | null
  /** The latest compactions, newest last. */
  readonly states: readonly StateOverview[]
  readonly prunings: PruningCounts
  /** What providers were called for, as long as that is kept. */
  readonly summaryCosts: SummaryCosts
}

export interface StateOverview {
  readonly id: string
  readonly generation: number
  /** `passed`: a later compaction came before it had its summary; its prunings hold all the same. */
  readonly status: 'pending' | 'passed' | 'ready' | 'void'
  readonly strategy: string
  readonly limitTokens: number
  readonly coveredCount: number
  readonly coveredTokens: number
  readonly summary: string | null
  readonly summaryTokens: number
  readonly summarizer: string | null
}

export interface ListThreadsOptions extends PageOptions {
  readonly agent?: string
}

export interface SettleOptions {
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (overview: {
    headSeq: number
    cursors: ThreadOverview['cursors']
    /** Whether the progress summary knows of all iterations. */
    isProgressKept: boolean
  }) => void
}
