import type { CommandContext } from '../connect/context.js'
import { safeText } from '../output/safe-text.js'
import { formatCount, itemTable, type Line } from '../output/table.js'
import type { Destination } from './destination.js'
import { type FailedImport, isOfOneSession, notStored } from './failed.js'
import { Limiter } from './limiter.js'
import type { PlannedFile } from './plan.js'
import { type SentThread, sendFile } from './send-file.js'

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

/** Files that are read at once, and parts of them that are on their way. */
const FILES_AT_ONCE = 4
const PARTS_AT_ONCE = 4

/**
 * Sends sessions as any producer would, and waits until all of it is stored. One that the store refuses does not keep the
 * others from it.
 *
 * @throws the error of a thread that is the only one, or that all others would meet, too
 */
export async function sendFiles(
  context: CommandContext,
  destination: Destination,
  files: readonly PlannedFile[],
  options: { agent: string; newAgentRollingWindow: number | null },
): Promise<{ imported: ImportedThread[]; failed: FailedImport[] }> {
  const threads = files.flatMap((file) => file.threads)
  const total = threads.reduce((sum, { messages }) => sum + messages, 0)
  const progress = context.printer.progress('messages stored', total, { rate: true })
  const limiter = new Limiter(PARTS_AT_ONCE)
  const stored: number[] = []
  let done = 0
  const results: (ImportedThread | FailedImport)[][] = new Array(files.length)
  const onProgressOf = (index: number) => (messages: number) => {
    done += messages - (stored[index] ?? 0)
    stored[index] = messages
    progress.update(done)
  }
  const send = async (file: PlannedFile, index: number) => {
    const onProgress = onProgressOf(index)
    const slot = () => limiter.enter()
    const sent = await sendFile(destination, file, { ...options, signal: context.signal, slot, onProgress })
    results[index] = sent.map(({ error, ...thread }) => {
      if (error === undefined) return importedThread(thread)
      if (threads.length === 1 || !isOfOneSession(error)) throw error
      return notStored(thread.planned, error)
    })
    onProgress(file.threads.reduce((sum, { messages }) => sum + messages, 0))
  }
  let next = 0
  const sendNext = async (): Promise<void> => {
    for (let index = next++; index < files.length; index = next++) {
      const file = files[index]
      if (file === undefined) return
      context.signal.throwIfAborted()
      await send(file, index)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(FILES_AT_ONCE, files.length) }, sendNext))
  } finally {
    progress.stop()
  }
  const ended = results.flat()
  return {
    imported: ended.filter((result) => 'stored' in result),
    failed: ended.filter((result) => 'error' in result),
  }
}

function importedThread({
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

export function importedLines(threads: readonly ImportedThread[]): Line[] {
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
    ...itemTable(threads, [
      { title: 'thread', text: ({ thread }) => thread },
      { title: 'in the file: messages', count: ({ messages }) => messages },
      { title: 'tool calls', count: ({ toolCalls }) => toolCalls },
      { title: 'results', count: ({ toolResults }) => toolResults },
      { title: 'kept aside', count: ({ keptAside }) => keptAside },
      { title: 'stored', count: ({ stored }) => stored },
      { title: 'repeated', count: ({ repeated }) => repeated },
      {
        title: 'in the thread: eligible / imported',
        right: ({ eligible, imported }) => `${formatCount(eligible)} / ${formatCount(imported)}`,
      },
    ]),
    ...(skipped.length + grown.length === 0 ? [] : ['', ...skipped, ...grown]),
  ]
}
