import type { MomentOptions } from '@heddle/client/interface'
import {
  type ContextRequest,
  type ContextResult,
  contextRequestSchema,
  notFound,
  parse,
  validationError,
} from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { loadContextAt, loadThread } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import { withPartBytes } from './context-parts.js'

/**
 * The last context of a thread that was built up to a moment, whatever was asked for: as it was delivered, made again of
 * what is stored.
 *
 * @throws PermanentError `VALIDATION_ERROR` for a moment that has not come; `NOT_FOUND` where no context was built by then,
 *   is kept no more, or has lost parts to an erasure
 */
export async function lastContextAt(parts: EngineContext, { thread, at }: MomentOptions): Promise<ContextResult> {
  const checked = parse(contextRequestSchema.pick({ thread: true, at: true }).required(), { thread, at }, 'moment')
  return await find(parts, checked, null)
}

/** As {@link lastContextAt}, for the very same request. */
export async function contextAt(
  parts: EngineContext,
  request: ContextRequest & { at: string },
): Promise<ContextResult> {
  return await find(parts, request, request)
}

async function find(
  parts: EngineContext,
  { thread, at }: MomentOptions,
  request: ContextRequest | null,
): Promise<ContextResult> {
  const { store, projectId, clock } = parts
  const atMs = Date.parse(at)
  const now = new Date(clock.nowMs())
  if (atMs > now.getTime()) throw validationError('at', `must have passed; it is ${now.toISOString()}`, at)
  const query = { threadId: threadIdOf(projectId, thread), atMs, request }
  const [row, found] = await store.inProject(projectId, (tx) =>
    Promise.all([loadContextAt(tx, query), loadThread(tx, query)]),
  )
  if (row?.result != null) return await withPartBytes(parts, row.result)
  if (found === null) throw notFound('thread', thread, 'list the threads there are')
  const what = request === null ? 'no context of the thread' : 'no context for this very request'
  throw notFound('at', at, `${what} was built by then, or it is kept no more; contexts of the past are not made up`)
}
