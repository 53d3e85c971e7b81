import type { MessageInput } from '@heddle/contracts'
import { type PlannedFile, type PlanOptions, planFiles, type ThreadPlan } from './plan.js'

/** A thread with all its messages, for sessions that fit into memory. */
export interface PlannedThread extends Omit<ThreadPlan, 'messages'> {
  readonly messages: readonly MessageInput[]
}

/**
 * Reads and checks files, as an import does before anything is sent.
 *
 * @throws as {@link planFiles}
 */
export async function planImport(files: readonly string[], options: PlanOptions): Promise<PlannedThread[]> {
  const plan = await planFiles(files, options)
  try {
    return plan.files.flatMap((file) => threadsOf(file))
  } finally {
    await plan.remove()
  }
}

function threadsOf(file: PlannedFile): PlannedThread[] {
  const messagesOf = new Map<ThreadPlan, MessageInput[]>(file.threads.map((thread) => [thread, []]))
  for (const { thread, message } of file.messages()) messagesOf.get(thread)?.push(message)
  return [...messagesOf].map(([thread, messages]) => ({ ...thread, messages }))
}

/** Wraps a thread in memory as a file to send. */
export function fileOf(held: PlannedThread): PlannedFile {
  const thread: ThreadPlan = { ...held, messages: held.messages.length }
  return {
    file: held.file,
    bytes: 0,
    threads: [thread],
    messages: () => held.messages.map((message) => ({ thread, message })),
    close: () => {},
  }
}
