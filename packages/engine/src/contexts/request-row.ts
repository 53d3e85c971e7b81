import { isDeepStrictEqual } from 'node:util'
import {
  ConflictError,
  type ContextJob,
  type ContextRequest,
  type ContextResult,
  errorFromData,
} from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import type { AskedContext, ContextRow } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

export function rowOf(
  { projectId }: EngineContext,
  id: string,
  request: ContextRequest,
  deadlineAtMs: number,
): AskedContext & { readonly id: string } {
  return { id, threadId: threadIdOf(projectId, request.thread), request, deadlineAtMs }
}

/** The job that has the request in a row built. */
export function jobOf({ queues, projectId }: EngineContext, contextId: string, requestKey: string): ContextJob {
  return { projectId, contextId, replyTo: queues.inbox, requestKey }
}

/** @throws HeddleError the reason if it failed */
export function resultOf(row: Pick<ContextRow, 'error' | 'result'> | null): ContextResult | undefined {
  if (row?.error) throw errorFromData(row.error)
  return row?.result ?? undefined
}

/**
 * Both are compared as JSON, in which a field that is undefined is missing.
 *
 * @throws ConflictError if the row of an idempotency key is of another request
 */
export function refuseOtherRequest({ request }: Pick<ContextRow, 'request'>, repeated: ContextRequest): void {
  if (isDeepStrictEqual(request, JSON.parse(JSON.stringify(repeated)))) return
  throw new ConflictError('under this idempotency key another context of the thread was requested', {
    field: 'idempotencyKey',
    facts: { request },
    hint: 'Use a key of its own for each request; a repeat must be the same in every field.',
  })
}
