import type { SnapshotFile } from '@heddle/contracts'
import { originalOf } from './copies.js'

export type { SnapshotFile, SnapshotMessage } from '@heddle/contracts'

/** Replaces the summary if the summarizer failed (docs/snapshots.md). */
export const SUMMARY_FAILED = '(summary generation failed)'

/** Replaces a summary that covered an erased thread or message. */
export const SUMMARY_ERASED = '(the summary was removed with messages that were erased)'

export function threadsOfSnapshot({ messages }: SnapshotFile): string[] {
  return [...new Set(messages.map(({ thread_id }) => thread_id))]
}

/**
 * A snapshot without the contents of one thread. The summary was written from all threads together, so it is not known
 * which parts are about this one: it is removed whole. A snapshot without the thread is returned unchanged.
 */
export function withoutThread(snapshot: SnapshotFile, threadId: string): SnapshotFile {
  const messages = snapshot.messages.filter(({ thread_id }) => thread_id !== threadId)
  if (messages.length === snapshot.messages.length) return snapshot
  return { ...snapshot, summary: SUMMARY_ERASED, message_count: messages.length, messages }
}

/**
 * A snapshot without some messages of a thread, and without their summary, for the same reason. Copies that an earlier restore
 * made of them are removed as well. A snapshot without any of them is returned unchanged.
 */
export function withoutMessages(snapshot: SnapshotFile, threadId: string, ids: ReadonlySet<string>): SnapshotFile {
  const messages = snapshot.messages.filter(
    (message) => message.thread_id !== threadId || !(ids.has(message.id) || ids.has(originalOf(message).id)),
  )
  if (messages.length === snapshot.messages.length) return snapshot
  return { ...snapshot, summary: SUMMARY_ERASED, message_count: messages.length, messages }
}
