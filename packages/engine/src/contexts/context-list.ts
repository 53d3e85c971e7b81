import type { ContextListOptions, Page } from '@heddle/client/interface'
import { type ContextSummary, nameSchema, notFound, parse } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { listContexts, loadThread } from '@heddle/store'
import { type CursorList, cursorOf, placeAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import { checkPageLimit, type EngineContext } from '../setup/options.js'

const LIMIT_DEFAULT = 100

/**
 * The requested contexts of a thread, newest first, without their messages.
 *
 * @throws PermanentError `NOT_FOUND` if the thread does not exist, `VALIDATION_ERROR`
 */
export async function listThreadContexts(
  { store, projectId }: EngineContext,
  { thread, limit = LIMIT_DEFAULT, ...page }: ContextListOptions,
): Promise<Page<ContextSummary>> {
  const threadId = threadIdOf(projectId, parse(nameSchema, thread, 'thread'))
  checkPageLimit(limit)
  const list: CursorList = { kind: 'contexts', ownerId: threadId }
  const [, time, id = ''] = placeAt(list, page, PLACE) ?? []
  const before = time === undefined ? undefined : { requestedAtMs: Number(time), id }
  const rows = await store.inProject(projectId, async (tx) => {
    const found = await listContexts(tx, { threadId, limit: limit + 1, ...(before && { before }) })
    if (found.length === 0 && (await loadThread(tx, { threadId })) === null) {
      throw notFound('thread', thread, 'see `heddle threads list`')
    }
    return found
  })
  const items = rows.slice(0, limit).map(
    ({ id, status, budget, tokensUsed, requestedAtMs, builtAtMs }): ContextSummary => ({
      id,
      thread,
      status,
      budget,
      tokensUsed,
      requestedAt: isoTime(requestedAtMs),
      builtAt: isoTime(builtAtMs),
    }),
  )
  const last = rows[limit - 1]
  const nextCursor = rows.length > limit && last ? cursorOf(list, `${last.requestedAtMs}_${last.id}`) : null
  return { items, nextCursor }
}

const PLACE = /^(\d{1,15})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/
