import { newId } from '@heddle/client/calls'
import type { Page } from '@heddle/client/interface'
import {
  type AppendIterationsOptions,
  type AppendIterationsResult,
  type IterationEntry,
  type ListIterationsOptions,
  listOptionsSchema,
  type RunState,
  type RunSummary,
} from '@heddle/client/interface'
import { iterationInputSchema, limits, mergeSettings, nameSchema, notFound, parse } from '@heddle/contracts'
import { type Iteration, iterationFingerprint, threadIdOf, truncateIteration } from '@heddle/core'
import {
  appendIterations,
  ensureThread,
  hasIteration,
  listIterations,
  loadLoop,
  loadThread,
  type PreparedIteration,
  type ProgressRow,
} from '@heddle/store'
import { noCursor, numberAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

/**
 * Appends iterations to a thread, in their order, exactly once however often they are sent with the same ids. A missing thread
 * is created. Long appends are stored in several transactions.
 *
 * @throws PermanentError `VALIDATION_ERROR` or `PAYLOAD_TOO_LARGE`, before anything is stored
 * @throws ConflictError if an id is used by another iteration, a number by another id, or the thread by another agent
 */
export async function appendAllIterations(
  parts: EngineContext,
  options: AppendIterationsOptions,
): Promise<AppendIterationsResult> {
  const { store, project, projectId, clock, log } = parts
  const agent = parse(nameSchema, options.agent, 'agent')
  const thread = parse(nameSchema, options.thread, 'thread')
  const nowMs = clock.nowMs()
  const prepared = options.iterations.map((iteration, index): PreparedIteration => {
    const input = parse(iterationInputSchema, { ...iteration, id: iteration.id ?? newId() }, `iterations.${index}`)
    const happenedAtMs = input.timestamp === undefined ? nowMs : Date.parse(input.timestamp)
    return { input, happenedAtMs, fingerprint: iterationFingerprint(input) }
  })
  const iterationNumbers: number[] = []
  let stored = 0
  for (const iterations of split(prepared)) {
    const step = await store.inProject(projectId, async (tx) => {
      const { threadId } = await ensureThread(tx, { projectId, projectName: project, agent, thread })
      return await appendIterations(tx, { threadId, iterations, firstIndex: iterationNumbers.length })
    })
    iterationNumbers.push(...step.numbers)
    stored += step.stored
  }
  const threadId = threadIdOf(projectId, thread)
  if (stored > 0) {
    try {
      await parts.queues.wake('summarize', { projectId, threadId })
    } catch (error) {
      // The iterations are stored: the reconciler finds that the summary lags.
      log?.warn({ error, projectId, threadId }, 'waking the summarize stage failed; the reconciler will wake it')
    }
  }
  return { threadId, stored, repeated: prepared.length - stored, iterationNumbers }
}

/** Transactions are limited by iterations and by characters. */
function split(prepared: readonly PreparedIteration[]): PreparedIteration[][] {
  const steps: PreparedIteration[][] = []
  let characters = 0
  for (const iteration of prepared) {
    const size = iteration.input.prompt.length + iteration.input.output.length
    const last = steps.at(-1)
    const fits = last && last.length < limits.iterationsPerAppendMax && characters + size <= limits.charactersPerJobMax
    characters = fits ? characters + size : size
    if (fits) last.push(iteration)
    else steps.push([iteration])
  }
  return steps
}

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

function entryOf({ number, happenedAtMs, ...iteration }: Iteration): IterationEntry {
  return { ...iteration, iterationNumber: number, timestamp: isoTime(happenedAtMs) }
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
