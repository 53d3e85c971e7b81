import { formatReference, type Memory, messageReference, roundScore } from '@heddle/core'
import type { MemoryRow } from '@heddle/store'

/** The thread of the context that recalls. */
export interface RecallingThread {
  readonly threadId: string
  readonly projectName: string
  readonly isReadElsewhere: boolean
}

/** A recalled message with the shown text. */
export function toMemory(
  row: MemoryRow,
  shown: Pick<Memory, 'text' | 'score' | 'isExcerpt' | 'isInstruction'>,
  { threadId, projectName, isReadElsewhere }: RecallingThread,
): Memory {
  const isOwn = row.threadId === threadId
  return {
    ...shown,
    score: roundScore(shown.score),
    messageId: row.messageId,
    threadId: row.threadId,
    thread: row.threadName,
    isOwn,
    // A short reference is relative to the request's thread, which its reader may not know.
    reference:
      isOwn && !isReadElsewhere
        ? messageReference(row.code)
        : formatReference({ project: projectName, thread: row.threadCode, message: row.code }),
    role: row.role,
    atMs: row.orderedAtMs,
  }
}
