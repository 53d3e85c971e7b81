import { Limiter, mapConcurrently } from '@heddle/runtime'
import type { CommandContext } from '../connect/context.js'
import { safeText } from '../output/safe-text.js'
import { formatCount, itemTable, type Line } from '../output/table.js'
import type { Destination } from './destination.js'
import { type FailedImport, isOfOneSession, notStored } from './failed.js'
import { type ImportedThread, importedThread } from './imported-thread.js'
import type { PlannedFile } from './plan.js'
import { sendFile } from './send-file.js'
import { startStallNotice } from './stall-notice.js'

/** Files read concurrently, and parts of them in flight. */
const FILES_AT_ONCE = 4
const PARTS_AT_ONCE = 4

/**
 * Sends sessions as any producer would, and waits until all are stored. A session that the store refuses does not stop the
 * others.
 *
 * @throws the error of a thread if it is the only one, or if all others would fail in the same way
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
  const limiter = new Limiter({ atOnce: PARTS_AT_ONCE })
  const stall = startStallNotice((seconds) => context.printer.note(stalled(seconds)))
  let done = 0
  const send = async (file: PlannedFile, signal: AbortSignal): Promise<(ImportedThread | FailedImport)[]> => {
    let stored = 0
    const onProgress = (messages: number) => {
      if (messages > stored) stall.progressed()
      done += messages - stored
      stored = messages
      progress.update(done)
    }
    const sent = await sendFile(destination, file, { ...options, signal, slot: () => limiter.acquire(), onProgress })
    onProgress(file.threads.reduce((sum, { messages }) => sum + messages, 0))
    return sent.map(({ error, ...thread }) => {
      if (error === undefined) return importedThread(thread)
      if (threads.length === 1 || !isOfOneSession(error)) throw error
      return notStored(thread.planned, error)
    })
  }
  const results = await mapConcurrently(files, send, { atOnce: FILES_AT_ONCE, signal: context.signal }).finally(() => {
    progress.stop()
    stall.stop()
  })
  const ended = results.flat()
  return {
    imported: ended.filter((result) => 'stored' in result),
    failed: ended.filter((result) => 'error' in result),
  }
}

function stalled(seconds: number): string {
  return (
    `nothing was stored for ${seconds} seconds. The import continues once the server and a worker of ingest answer; ` +
    '"heddle doctor" shows which of them is missing. After Ctrl+C, import again: stored messages are not sent twice.'
  )
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
        `grown in ${safeText(thread.thread)}: ${formatCount(thread.grown)}; the additions are stored after the reply`,
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
