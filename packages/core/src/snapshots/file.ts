import type { SnapshotFile } from '@heddle/contracts'

export type { SnapshotFile, SnapshotMessage } from '@heddle/contracts'

/** Stands where a summary would be, had the summarizer not failed (docs/snapshots.md). */
export const SUMMARY_FAILED = '(summary generation failed)'

/** Stands where a summary was that told of a thread which was erased. */
export const SUMMARY_ERASED = '(the summary was removed with a thread that was erased)'

export function threadsOfSnapshot({ messages }: SnapshotFile): string[] {
  return [...new Set(messages.map(({ thread_id }) => thread_id))]
}

/**
 * A snapshot without what it holds of one thread. The summary was written from all threads together, so nobody can say which
 * of its words tell of this one: it goes as a whole. A snapshot that does not hold the thread is returned as it is.
 */
export function withoutThread(snapshot: SnapshotFile, threadId: string): SnapshotFile {
  const messages = snapshot.messages.filter(({ thread_id }) => thread_id !== threadId)
  if (messages.length === snapshot.messages.length) return snapshot
  return { ...snapshot, summary: SUMMARY_ERASED, message_count: messages.length, messages }
}
