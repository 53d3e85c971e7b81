import { type ContextRequest, limits } from '@heddle/contracts'
import { canonicalJson } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { type ContextRow, type ContextSummary, loadContext } from './contexts.js'

/** How far apart the clocks of the server and of a worker may be. */
const SKEW_MS_MAX = 60_000
const PAGE_ROWS = 200

export interface MomentQuery {
  readonly threadId: string
  /** In milliseconds since 1970. */
  readonly atMs: number
  /** What was asked for; null for whatever it was. */
  readonly request: ContextRequest | null
}

type Candidate = Pick<ContextSummary, 'id' | 'request' | 'requestedAtMs' | 'asOfMs'>

/**
 * The context of a thread that was in force at a moment: the last that was built up to then, for the very same request.
 *
 * @returns null where none was built by then, or it is not kept any more
 * @throws PermanentError `NOT_FOUND` where parts of it were erased, with what they were
 */
export async function loadContextAt(tx: Tx, query: MomentQuery): Promise<ContextRow | null> {
  let best: { id: string; asOfMs: number } | null = null
  let before = { requestedAtMs: query.atMs + SKEW_MS_MAX, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }
  for (;;) {
    const rows = await candidates(tx, query.threadId, before)
    for (const { id, request, asOfMs } of rows) {
      if (asOfMs === null || asOfMs > query.atMs || (best !== null && asOfMs <= best.asOfMs)) continue
      if (query.request === null || canonicalJson(asked(request)) === canonicalJson(asked(query.request)))
        best = { id, asOfMs }
    }
    const last = rows.at(-1)
    if (last === undefined) break
    // Nobody builds a context after its deadline, so those that were asked for long before show earlier moments.
    if (best !== null && last.requestedAtMs + limits.waitMsMax + SKEW_MS_MAX < best.asOfMs) break
    before = last
  }
  return best === null ? null : await loadContext(tx, { id: best.id })
}

/** By their request, since that has an index; the moments that they show are near. What was prepared and never taken, nobody saw. */
async function candidates(tx: Tx, threadId: string, before: { requestedAtMs: number; id: string }) {
  return await tx<Candidate[]>`
    select id, request, requested_at as requested_at_ms, shown_at as as_of_ms
    from heddle.contexts
    where thread_id = ${threadId} and status = 'built' and prepared_count = 0 and (requested_at, id) < (${before.requestedAtMs}, ${before.id})
    order by requested_at desc, id desc
    limit ${PAGE_ROWS}`
}

/** Whether it is prepared beforehand does not change what is asked for. */
function asked({ at: _, prebuild: __, ...request }: ContextRequest): object {
  return request
}
