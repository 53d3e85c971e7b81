import type { SnapshotFile } from '@heddle/contracts'

export type { SnapshotFile, SnapshotMessage } from '@heddle/contracts'

/** Replaces the summary if the summarizer failed (docs/snapshots.md). */
export const SUMMARY_FAILED = '(summary generation failed)'

/** Replaces a summary that covered an erased thread. */
export const SUMMARY_ERASED = '(the summary was removed with a thread that was erased)'

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
