import { type ErrorCode, type ErrorData, HeddleError } from '@heddle/contracts'
import { describeFailure, UsageError } from '../output/failure.js'
import { safeText } from '../output/safe-text.js'

/** A session that was not imported, or a file that could not be read as one. */
export interface FailedImport {
  readonly file: string
  /** Null for an unreadable file, whose threads are unknown. */
  readonly thread: string | null
  /** `conflict`: a message is stored with other content; `refused`: any other error of the store. */
  readonly status: 'unreadable' | 'conflict' | 'refused'
  readonly error: ErrorData
}

/** Errors of the store or of the caller's access, not of one session: every other session would fail in the same way. */
const ofAll: readonly ErrorCode[] = ['UNAUTHORIZED', 'FORBIDDEN']

/** Whether the other files of an import may still succeed. */
export function isOfOneFile(error: unknown): boolean {
  return error instanceof HeddleError && error.disposition !== 'retry' && !(error instanceof UsageError)
}

/** Whether the other sessions of an import may still succeed. A refusal that names a file is that of the file system. */
export function isOfOneSession(error: unknown): boolean {
  return error instanceof HeddleError && isOfOneFile(error) && (!ofAll.includes(error.code) || error.field === 'file')
}

export function unreadable(file: string, error: unknown): FailedImport {
  return { file, thread: null, status: 'unreadable', error: describeFailure(error) }
}

export function notStored({ file, thread }: { file: string; thread: string }, error: unknown): FailedImport {
  const described = describeFailure(error)
  return { file, thread, status: described.code === 'CONFLICT' ? 'conflict' : 'refused', error: described }
}

export function failedLines(failed: readonly FailedImport[]): string[] {
  return failed.flatMap(({ file, status, error }) => [
    `${status}: ${safeText(file)}`,
    `  why: ${safeText(error.detail)}`,
    ...(error.hint === undefined ? [] : [`  do:  ${safeText(error.hint)}`]),
  ])
}
