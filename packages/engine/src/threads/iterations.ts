import type { Page } from '@heddle/client/interface'
import {
  type IterationEntry,
  type ListIterationsOptions,
  listOptionsSchema,
  type RunState,
  type RunSummary,
} from '@heddle/client/interface'
import { limits, mergeSettings, nameSchema, notFound, parse } from '@heddle/contracts'
import { type Iteration, messageReference, threadIdOf, truncateIteration } from '@heddle/core'
import { hasIteration, listIterations, loadLoop, loadThread, type ProgressRow } from '@heddle/store'
import { noCursor, numberAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

/**
 * A page of a thread's iterations by number. A page of large iterations ends early.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`
 */
export async function listAllIterations(
  { store, projectId }: EngineContext,
  thread: string,
  options: ListIterationsOptions = {},
): Promise<Page<IterationEntry>> {
  const threadId = threadIdOf(projectId, parse(nameSchema, thread, 'thread'))
  const { limit, order, ...place } = parse(listOptionsSchema, options, 'iterations')
  const afterNumber = numberAt(place)
  if (afterNumber !== undefined && afterNumber > limits.iterationNumberMax) throw noCursor(String(afterNumber))
  const [found, isGiven, page] = await store.inProject(projectId, (tx) =>
    Promise.all([
      loadThread(tx, { threadId }),
      afterNumber === undefined || hasIteration(tx, { threadId, number: afterNumber }),
      listIterations(tx, { threadId, afterNumber, limit, order }),
    ]),
  )
  if (!found) throw notFound('thread', thread, 'see `heddle threads list`')
  if (!isGiven) throw noCursor(String(afterNumber))
  const last = page.iterations.at(-1)
  return {
    items: page.iterations.map(entryOf),
    nextCursor: page.hasMore && last ? String(last.number) : null,
  }
}

function entryOf({ number, happenedAtMs, code, id, ...iteration }: Iteration): IterationEntry {
  const reference = code === null ? null : messageReference(code)
  return { id, reference, iterationNumber: number, timestamp: isoTime(happenedAtMs), ...iteration }
}

/**
 * The state of a thread's run: as set by `threads.put`, otherwise derived from its iterations.
 *
 * @throws PermanentError `NOT_FOUND`
 */
export async function getLoop({ store, projectId, settings }: EngineContext, thread: string): Promise<RunState> {
  const threadId = threadIdOf(projectId, parse(nameSchema, thread, 'thread'))
  const found = await store.inProject(projectId, async (tx) => {
    const row = await loadThread(tx, { threadId })
    if (!row) return null
    const merged = mergeSettings(settings, row.agentSettings, row.settings)
    return { ...(await loadLoop(tx, { thread: row, settings: merged })), max: merged.maxChatTurns }
  })
  if (!found) throw notFound('thread', thread, 'see `heddle threads list`')
  const { loop, progress, max } = found
  const { summary: _, iterations, ...rest } = loop
  return {
    ...rest,
    iterations: iterations.map((iteration) => entryOf(truncateIteration(iteration))),
    turns: { taken: loop.totalIterations, max },
    summary: progress && summaryOf(progress),
  }
}

function summaryOf({ summary, summaryTokens, createdAtMs, ...progress }: ProgressRow): RunSummary {
  const { coveredCount, coveredFrom, coveredTo, version, summarizer } = progress
  return {
    text: summary,
    coveredCount,
    coveredFrom,
    coveredTo,
    tokens: summaryTokens,
    version,
    summarizer,
    createdAt: isoTime(createdAtMs),
  }
}
