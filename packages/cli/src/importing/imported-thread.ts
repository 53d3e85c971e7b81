import type { SentThread } from './send-file.js'

/** Result of importing one thread. */
export interface ImportedThread {
  readonly thread: string
  readonly file: string
  /** `repeated`: all messages were stored before. */
  readonly status: 'stored' | 'repeated'
  readonly format: string
  /** Messages of the file, including those that are kept aside. */
  readonly messages: number
  readonly toolCalls: number
  readonly toolResults: number
  /** Messages of the file that are stored, but never part of a context: compact summaries, errors and approvals. */
  readonly keptAside: number
  /** New with this import. */
  readonly stored: number
  /** Stored before. */
  readonly repeated: number
  /** Replies that have grown since an earlier import; each addition is stored as a message after its reply. */
  readonly grown: number
  /** Messages of the stored thread that contexts may show, out of `imported`, which excludes those kept aside. */
  readonly eligible: number
  readonly imported: number
  readonly skipped: Readonly<Record<string, number>>
  /** Reasons why contexts omit messages of the thread, each with a remedy. */
  readonly warnings: readonly string[]
}

export function importedThread({
  planned,
  overview,
  stored,
  repeated,
  grown,
  keptAside,
}: Omit<SentThread, 'error'>): ImportedThread {
  return {
    thread: planned.thread,
    file: planned.file,
    status: stored + grown > 0 ? 'stored' : 'repeated',
    format: planned.format,
    messages: planned.messages,
    toolCalls: planned.toolCalls,
    toolResults: planned.toolResults,
    keptAside,
    stored,
    repeated,
    grown,
    eligible: overview?.eligible ?? 0,
    imported: overview?.imported ?? 0,
    skipped: planned.skipped,
    warnings: overview?.warnings ?? [],
  }
}
