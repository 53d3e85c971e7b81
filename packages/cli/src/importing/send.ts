import { ineligibleReason } from '@heddle/core'
import type { CommandContext } from '../context.js'
import { safeText } from '../output/safe-text.js'
import { formatCount, type Line, tableLines } from '../output/table.js'
import type { Destination } from './destination.js'
import { type FailedImport, isOfOneSession, notStored } from './failed.js'
import type { PlannedThread } from './plan.js'

/** What became of a session. */
export interface ImportedThread {
  readonly thread: string
  readonly file: string
  /** `repeated`: all of it was there already. */
  readonly status: 'stored' | 'repeated'
  readonly format: string
  /** Messages of the file, those that are kept aside included. */
  readonly messages: number
  readonly toolCalls: number
  readonly toolResults: number
  /** Messages of the file that are stored, but never part of a context: compact summaries, errors and approvals. */
  readonly keptAside: number
  /** New with this import. */
  readonly stored: number
  /** There already. */
  readonly repeated: number
  /** Replies that were longer than an earlier import had found them: what was added since is stored as a message after each. */
  readonly grown: number
  /** Of the thread as it is stored now: what a context may show, and what was imported at all; none of them kept aside. */
  readonly eligible: number
  readonly imported: number
  readonly skipped: Readonly<Record<string, number>>
  /** What keeps messages of the thread out of contexts, and what to do about it. */
  readonly warnings: readonly string[]
}

/** Threads on their way at once; each sends several batches at a time by itself. */
const THREADS_AT_ONCE = 4

/**
 * Sends threads as any producer would, and waits until all of it is stored. One that the store refuses does not keep the others
 * from it.
 *
 * @throws the error of a thread that is the only one, or that all others would meet, too
 */
export async function sendThreads(
  context: CommandContext,
  destination: Destination,
  planned: readonly PlannedThread[],
  options: { agent: string; newAgentRollingWindow: number | null },
): Promise<{ imported: ImportedThread[]; failed: FailedImport[] }> {
  const total = planned.reduce((sum, { messages }) => sum + messages.length, 0)
  const progress = context.printer.progress('messages stored', total)
  const storedOf = new Map<PlannedThread, number>()
  const results: (ImportedThread | FailedImport)[] = new Array(planned.length)
  let next = 0

  const sendNext = async (): Promise<void> => {
    for (let index = next++; index < planned.length; index = next++) {
      const thread = planned[index]
      if (thread === undefined) return
      context.signal.throwIfAborted()
      const onProgress = (stored: number) => {
        storedOf.set(thread, stored)
        progress.update([...storedOf.values()].reduce((sum, count) => sum + count, 0))
      }
      try {
        results[index] = await sendThread(destination, thread, options, onProgress)
      } catch (error) {
        if (planned.length === 1 || !isOfOneSession(error)) throw error
        results[index] = notStored(thread, error)
        onProgress(thread.messages.length)
      }
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(THREADS_AT_ONCE, planned.length) }, sendNext))
  } finally {
    progress.stop()
  }
  return {
    imported: results.filter((result) => 'stored' in result),
    failed: results.filter((result) => 'error' in result),
  }
}

async function sendThread(
  destination: Destination,
  planned: PlannedThread,
  options: { agent: string; newAgentRollingWindow: number | null },
  onProgress: (stored: number) => void,
): Promise<ImportedThread> {
  const { thread, file, format, messages, toolCalls, toolResults, skipped } = planned
  const { stored, repeated, grown } = await destination.append(thread, messages, { ...options, onProgress })
  const overview = await destination.overview(thread)
  return {
    thread,
    file,
    status: stored + grown > 0 ? 'stored' : 'repeated',
    format,
    messages: messages.length,
    toolCalls,
    toolResults,
    keptAside: messages.filter(({ role, keptAside = null }) => ineligibleReason({ role, keptAside }) !== null).length,
    stored,
    repeated,
    grown,
    eligible: overview.eligible,
    imported: overview.imported,
    skipped,
    warnings: overview.warnings,
  }
}

export function importedLines(threads: readonly ImportedThread[]): Line[] {
  const right = (title: string) => ({ title, align: 'right' as const })
  const rows = threads.map((thread) => [
    safeText(thread.thread),
    formatCount(thread.messages),
    formatCount(thread.toolCalls),
    formatCount(thread.toolResults),
    formatCount(thread.keptAside),
    formatCount(thread.stored),
    formatCount(thread.repeated),
    `${formatCount(thread.eligible)} / ${formatCount(thread.imported)}`,
  ])
  const skippedOf = new Map(threads.map(({ file, skipped }) => [file, Object.entries(skipped)]))
  const skipped = [...skippedOf]
    .filter(([, kinds]) => kinds.length > 0)
    .map(([file, kinds]) => {
      const counts = kinds.map(([kind, count]) => `${formatCount(count)} ${safeText(kind)}`)
      return `skipped in ${safeText(file)}: ${counts.join(', ')}`
    })
  const grown = threads
    .filter((thread) => thread.grown > 0)
    .map(
      (thread) =>
        `grown in ${safeText(thread.thread)}: ${formatCount(thread.grown)}; what was added is stored after it`,
    )
  return [
    ...tableLines(
      [
        { title: 'thread' },
        right('in the file: messages'),
        right('tool calls'),
        right('results'),
        right('kept aside'),
        right('stored'),
        right('repeated'),
        right('in the thread: eligible / imported'),
      ],
      rows,
    ),
    ...(skipped.length + grown.length === 0 ? [] : ['', ...skipped, ...grown]),
  ]
}
