import { createAssembler } from '@heddle/assemble'
import type { ContextRequest, ContextResult, PartialSettings } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import type { Outcome } from '@heddle/queue'
import { createLogger, systemClock } from '@heddle/runtime'
import { loadContext, type Store } from '@heddle/store'
import { newId, PROJECT } from './store/support.js'

export interface Asked {
  readonly outcome: Outcome
  readonly context: ContextResult
}

/** Builds contexts as the assemble stage does, from requests that have no row yet. */
export function asking(store: Store, settings: PartialSettings) {
  const log = createLogger({ level: 'silent', name: 'test' })
  const assembler = createAssembler({ store, settings, clock: systemClock, log })
  return async (request: ContextRequest): Promise<Asked> => {
    const contextId = newId()
    const asked = { request, deadlineAtMs: Date.now() + 60_000 }
    const job = { jobId: newId(), attempt: 1, attemptsMax: 1, signal: new AbortController().signal }
    const outcome = await assembler(
      { ...job, payload: { projectId: PROJECT, contextId, asked } },
      { publish: () => {} },
    )
    const row = await store.inProject(PROJECT, (tx) => loadContext(tx, { id: contextId }))
    if (row?.result == null) throw new Error('the context was to be built')
    return { outcome, context: row.result }
  }
}

export interface SeriesEntry {
  readonly status: string
  readonly coveredCount: number
  readonly summary: string | null
  readonly summarizer: string | null
}

/** The states of each lane of a thread that are not void, oldest first, by their limit of tokens. */
export async function seriesOf(store: Store, thread: string, lane: string): Promise<SeriesEntry[]> {
  return await store.inProject(
    PROJECT,
    async (tx) =>
      await tx<SeriesEntry[]>`
        select status, covered_count, summary, summarizer from heddle.context_states
        where thread_id = ${threadIdOf(PROJECT, thread)} and lane = ${lane} and status <> 'void'
        order by clear_epoch, generation`,
  )
}

/** The recorded lanes of a thread. */
export async function lanesOf(store: Store, thread: string): Promise<string[]> {
  const rows = await store.inProject(
    PROJECT,
    async (tx) =>
      await tx<{ lane: string }[]>`
        select lane from heddle.kept_lanes where thread_id = ${threadIdOf(PROJECT, thread)} order by lane`,
  )
  return rows.map(({ lane }) => lane)
}
