import { type ContextRequest, limits } from '@heddle/contracts'
import { canonicalJson } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { type ContextRow, type ContextSummary, loadContext } from './contexts.js'

/** The assumed largest difference between the clocks of the server and of a worker. */
const SKEW_MS_MAX = 60_000
const PAGE_ROWS = 200

export interface MomentQuery {
  readonly threadId: string
  /** In milliseconds since 1970. */
  readonly atMs: number
  /** Null: any request. */
  readonly request: ContextRequest | null
}

type Candidate = Pick<ContextSummary, 'id' | 'request' | 'requestedAtMs' | 'asOfMs'>

/**
 * The last context of a thread that was built up to a time, for an equal request.
 *
 * @returns null if no such context was built by then, or it is no longer stored
 * @throws PermanentError `NOT_FOUND` if parts of it were erased, and names them
 */
export async function loadContextAt(tx: Tx, query: MomentQuery): Promise<ContextRow | null> {
  let best: { id: string; asOfMs: number } | null = null
  let before = { requestedAtMs: query.atMs + SKEW_MS_MAX, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }
  for (;;) {
    const rows = await candidates(tx, query.threadId, before)
    for (const { id, request, asOfMs } of rows) {
      if (asOfMs === null || asOfMs > query.atMs || (best !== null && asOfMs <= best.asOfMs)) continue
      if (query.request === null || canonicalJson(comparable(request)) === canonicalJson(comparable(query.request)))
        best = { id, asOfMs }
    }
    const last = rows.at(-1)
    if (last === undefined) break
    // No context is built after its deadline, so those that were requested long before show earlier times.
    if (best !== null && last.requestedAtMs + limits.waitMsMax + SKEW_MS_MAX < best.asOfMs) break
    before = last
  }
  return best === null ? null : await loadContext(tx, { id: best.id })
}

/** Ordered by the time of the request, which has an index and is near the time shown. Unused prepared contexts are omitted. */
async function candidates(tx: Tx, threadId: string, before: { requestedAtMs: number; id: string }) {
  return await tx<Candidate[]>`
    select id, request, requested_at as requested_at_ms, shown_at as as_of_ms
    from heddle.contexts
    where thread_id = ${threadId} and status = 'built' and prepared_count = 0 and (requested_at, id) < (${before.requestedAtMs}, ${before.id})
    order by requested_at desc, id desc
    limit ${PAGE_ROWS}`
}

/** The request without fields that do not change its result. */
function comparable({ at: _, prebuild: __, ...request }: ContextRequest): object {
  return request
}
