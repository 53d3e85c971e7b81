import {
  type IterationInput,
  iterationInputSchema,
  limits,
  mergeSettings,
  nameSchema,
  notFound,
  parse,
} from '@heddle/contracts'
import {
  type Iteration,
  iterationFingerprint,
  type LoopContext as ShownLoop,
  threadIdOf,
  truncateIteration,
} from '@heddle/core'
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
import { z } from 'zod'
import { newId } from '../calls/ids.js'
import { noCursor, numberAt } from '../setup/cursors.js'
import type { ClientParts, Page } from '../setup/options.js'

/** An iteration to be appended; without an id it gets one, and is then one of its own each time it is appended. */
export type NewIteration = Omit<IterationInput, 'id'> & { readonly id?: string }

export interface AppendIterationsOptions {
  readonly agent: string
  readonly thread: string
  readonly iterations: readonly NewIteration[]
}

export interface AppendIterationsResult {
  readonly threadId: string
  readonly stored: number
  /** Iterations that were there before. */
  readonly repeated: number
  /** The number of each iteration, in their order. */
  readonly iterationNumbers: readonly number[]
}

/**
 * Appends iterations to a thread, in their order, exactly once however often they are sent under the same ids. The thread
 * is made where it is missing. Long appends are stored in several steps; each is stored whole or not at all.
 *
 * @throws PermanentError `VALIDATION_ERROR` or `PAYLOAD_TOO_LARGE`, before anything is stored
 * @throws ConflictError where an id is taken by another iteration, a number by another id, or the thread by another agent
 */
export async function appendAllIterations(
  { store, queues, project, projectId, clock, log }: ClientParts,
  options: AppendIterationsOptions,
): Promise<AppendIterationsResult> {
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
      await queues.wake('summarize', { projectId, threadId })
    } catch (error) {
      // They are stored: the reconciler finds that the summary lags behind them.
      log?.warn({ error, projectId, threadId }, 'the summarize stage was not woken')
    }
  }
  return { threadId, stored, repeated: prepared.length - stored, iterationNumbers }
}

/** Steps are bounded by iterations and by characters. */
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

const listOptionsSchema = z.strictObject({
  /** The number of the last iteration of the page before. */
  cursor: z.string().optional(),
  /** @deprecated The name that `cursor` had. */
  after: z.string().optional().meta({ deprecated: true }),
  limit: z.int().min(1).max(limits.pageItemsMax).default(50),
  order: z.enum(['asc', 'desc'], { error: 'must be asc or desc' }).default('asc'),
})
export type ListIterationsOptions = z.input<typeof listOptionsSchema>

/** An iteration with its whole texts; see `truncateIteration` in core for what contexts show of them. */
export interface IterationEntry extends Omit<Iteration, 'number' | 'happenedAtMs'> {
  readonly iterationNumber: number
  readonly timestamp: string
}

/**
 * A page of a thread's iterations by number. A page ends early where they are large.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`
 */
export async function listAllIterations(
  { store, projectId }: ClientParts,
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
  return { ...iteration, iterationNumber: number, timestamp: new Date(happenedAtMs).toISOString() }
}

/** The summary of a loop's older iterations. */
export interface LoopSummary {
  readonly text: string
  /** How many iterations it covers, and the numbers of the first and the last of them. */
  readonly coveredCount: number
  readonly coveredFrom: number
  readonly coveredTo: number
  readonly tokens: number
  /** Counts from 1; versions before it are kept. */
  readonly version: number
  readonly summarizer: string
  readonly createdAt: string
}

/** A run: its iterations, its summary and what it knows (docs/iterations.md). */
export interface LoopContext extends Omit<ShownLoop, 'iterations' | 'summary'> {
  /** Those that the summary does not cover, oldest first, with the beginnings of their texts; at most the newest 400. */
  readonly iterations: readonly IterationEntry[]
  /** Null where no iteration has left the window, or the summary is still to be made. */
  readonly summary: LoopSummary | null
}

/**
 * How the loop of a thread stands: what was told with `threads.put`, and where nothing was, what its iterations say.
 *
 * @throws PermanentError `NOT_FOUND`
 */
export async function getLoop({ store, projectId, settings }: ClientParts, thread: string): Promise<LoopContext> {
  const threadId = threadIdOf(projectId, parse(nameSchema, thread, 'thread'))
  const found = await store.inProject(projectId, async (tx) => {
    const row = await loadThread(tx, { threadId })
    if (!row) return null
    return await loadLoop(tx, { thread: row, settings: mergeSettings(settings, row.agentSettings, row.settings) })
  })
  if (!found) throw notFound('thread', thread, 'see `heddle threads list`')
  const { loop, progress } = found
  const { summary: _, iterations, ...rest } = loop
  return {
    ...rest,
    iterations: iterations.map((iteration) => entryOf(truncateIteration(iteration))),
    summary: progress && summaryOf(progress),
  }
}

function summaryOf({ summary, summaryTokens, createdAtMs, ...progress }: ProgressRow): LoopSummary {
  const { coveredCount, coveredFrom, coveredTo, version, summarizer } = progress
  const createdAt = new Date(createdAtMs).toISOString()
  return { text: summary, coveredCount, coveredFrom, coveredTo, tokens: summaryTokens, version, summarizer, createdAt }
}
