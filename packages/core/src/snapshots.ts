/** A message of a snapshot, with the thread that it is of. */
export interface SnapshotMessage {
  readonly id: string
  readonly thread_id: string
  readonly role: string
  readonly content: string
  readonly tool_calls?: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[]
  readonly tool_call_id?: string
  /** When it was sent, ISO 8601. */
  readonly timestamp: string
}

/** A saved window of all threads of an agent, as its file has it (spec 000: session snapshot file format). */
export interface SnapshotFile {
  readonly session_id: string
  readonly timestamp: string
  readonly description: string | null
  readonly summary: string
  readonly message_count: number
  /** Null where the window shows all. */
  readonly window_start: string | null
  readonly window_end: string
  readonly messages: readonly SnapshotMessage[]
}

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
