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
 * The last context of a thread that was built up to a time, for any request: as it was delivered, rebuilt from the stored
 * data.
 *
 * @throws PermanentError `VALIDATION_ERROR` for a time in the future; `NOT_FOUND` if no context was built by then, or it is
 *   no longer stored, or parts of it were erased
 */
export async function lastContextAt(parts: EngineContext, { thread, at }: MomentOptions): Promise<ContextResult> {
  const checked = parse(contextRequestSchema.pick({ thread: true, at: true }).required(), { thread, at }, 'moment')
  return await find(parts, checked, null)
}

/** As {@link lastContextAt}, but only contexts of an equal request. */
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
  if (found === null) throw notFound('thread', thread, 'see `heddle threads list`')
  const what = request === null ? 'no context of the thread' : 'no context for exactly this request'
  throw notFound(
    'at',
    at,
    `${what} was built by then, or it is no longer stored. Only contexts that were built can be shown`,
  )
}
