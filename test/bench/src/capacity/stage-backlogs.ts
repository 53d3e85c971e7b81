import type { NewMessage } from '@heddle/client/interface'
import { type StageName, stages, type WakeStageName } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { inParallel } from '@heddle/test-support/parallel'
import type { Bench } from '../bench.js'
import { conversationOf } from '../contexts/conversation.js'

/** A stage whose workers are measured on backlogs of equal jobs. */
export interface StageBacklog {
  readonly stage: StageName
  /** With which the size of a job is counted. */
  readonly unit: string
  /** Sizes of jobs: two of the calibration, and the one that is forecast. */
  readonly sizes: { readonly small: number; readonly forecast: number; readonly large: number }
  /** Jobs for each worker, whose work takes it some seconds. */
  jobsOf(units: number): number
  /** Batches at once of a worker, and the jobs of a batch. */
  readonly slots: number
  batchJobsMax(units: number): number
  /** Prepares backlogs of this size, before the workers start. */
  prepare?(bench: Bench, units: number): Promise<void>
  /** Adds jobs while the queue is paused. @returns whether all of them are done */
  fill(bench: Bench, jobs: number, units: number): Promise<IsDrained>
}

type IsDrained = () => Promise<boolean>

const CALLS_AT_ONCE = 32
/** Words are indexed by agent: each has as many in every backlog, and agents of its own. */
const THREADS_PER_AGENT = 12
/** Appends of one thread are committed one after another, so there are more threads than appends at once. */
const INGEST_THREADS = 2_000
/** One transaction of ingest takes this many messages, and a worker has two at once. */
const GROUP_MESSAGES_MAX = 1_000
const GROUPS_AT_ONCE = 2
const APPEND_DEADLINE_MS = 120_000
const POLL_EVERY_MS = 50

/** About 62 tokens each. */
const TOKENS_PER_MESSAGE = 62
const THREADS_BUILT = 4
const MESSAGES_BUILT = 1_000
const SETTLE_DEADLINE_MS = 120_000
const TOKENS_PER_UNIT = 1_000

const one = () => 1
const grownThreads = Array.from({ length: INGEST_THREADS }, (_, index) => `grown-${index}`)
const growers = Array.from({ length: Math.ceil(INGEST_THREADS / THREADS_PER_AGENT) }, (_, index) => `grower-${index}`)

const ingest: StageBacklog = {
  stage: 'ingest',
  unit: 'messages',
  sizes: { small: 5, forecast: 20, large: 50 },
  jobsOf: (units) => Math.ceil(80_000 / Math.max(units, 10)),
  slots: GROUPS_AT_ONCE,
  batchJobsMax: (units) => Math.floor(Math.min(GROUP_MESSAGES_MAX / units, stages.ingest.concurrency / GROUPS_AT_ONCE)),
  async prepare(bench) {
    if ((await countThreads(bench)) >= INGEST_THREADS) return
    await withHelper(bench, ['ingest'], () => appendEach(bench, grownThreads, growers, 1))
  },
  async fill(bench, jobs, units) {
    const messages = conversationOf(units)
    const stored = (await countMessages(bench)) + jobs * units
    await inParallel([...Array(jobs).keys()], CALLS_AT_ONCE, (job) => {
      const index = job % INGEST_THREADS
      const [thread = '', agent = ''] = [grownThreads[index], growers[index % growers.length]]
      return append(bench, { agent, thread, messages, ack: 'queued' })
    })
    return async () => (await countMessages(bench)) === stored
  },
}

const prune: StageBacklog = {
  stage: 'prune',
  unit: 'messages',
  sizes: { small: 10, forecast: 25, large: 60 },
  jobsOf: (units) => Math.ceil(25_000 / Math.max(units, 20)),
  slots: stages.prune.concurrency,
  batchJobsMax: one,
  fill: (bench, jobs, units) => fillAppended(bench, { jobs, units, stage: 'prune', cursor: 'prune_seq' }),
}

const embed: StageBacklog = {
  ...prune,
  stage: 'embed',
  jobsOf: (units) => Math.ceil(15_000 / Math.max(units, 20)),
  slots: stages.embed.concurrency,
  fill: (bench, jobs, units) => fillAppended(bench, { jobs, units, stage: 'embed', cursor: 'embed_seq' }),
}

const summarize: StageBacklog = {
  stage: 'summarize',
  unit: 'messages',
  sizes: { small: 60, forecast: 100, large: 200 },
  jobsOf: (units) => Math.ceil(16_000 / units),
  slots: stages.summarize.concurrency,
  batchJobsMax: one,
  async fill(bench, jobs, units) {
    const threads = freshThreads(bench, jobs)
    await withHelper(bench, ['ingest', 'prune'], async () => {
      // With this budget a thread of so many messages is compacted.
      const agents = await putAgents(bench, jobs, { budget: units * TOKENS_PER_MESSAGE })
      await appendEach(bench, threads, agents, units)
      await until(() => isAtHead(bench, 'prune_seq'))
    })
    const [row] = await bench.sql<{ count: string }[]>`
      select count(distinct thread_id) as count from heddle.context_states where status = 'pending'`
    if (Number(row?.count) !== jobs) throw new Error(`${row?.count} of ${jobs} threads wait for a summary`)
    await wake(bench, 'summarize', threads)
    return () => isEmpty(bench.sql`select from heddle.context_states where status = 'pending' limit 1`)
  },
}

const remember: StageBacklog = {
  ...prune,
  stage: 'remember',
  jobsOf: (units) => Math.ceil(15_000 / Math.max(units, 20)),
  slots: stages.remember.concurrency,
  async fill(bench, jobs, units) {
    const threads = freshThreads(bench, jobs)
    await withHelper(bench, ['ingest', 'prune'], async () => {
      await appendEach(bench, threads, await putAgents(bench, jobs, { remember: 'rules' }), units)
      await until(() => isAtHead(bench, 'prune_seq'))
    })
    await wake(bench, 'remember', threads)
    return () => isAtHead(bench, 'remember_seq')
  },
}

const assemble: StageBacklog = {
  stage: 'assemble',
  unit: 'thousand tokens',
  sizes: { small: 4, forecast: 10, large: 24 },
  jobsOf: () => 500,
  slots: stages.assemble.concurrency,
  batchJobsMax: one,
  async prepare(bench, units) {
    await bench.client.agents.put(`built-${units}`, {
      settings: { budget: units * TOKENS_PER_UNIT, rollingWindow: null },
    })
    await withHelper(bench, ['ingest', 'prune', 'summarize', 'embed'], async () => {
      for (const thread of builtThreads(units)) {
        await append(bench, { agent: `built-${units}`, thread, messages: conversationOf(MESSAGES_BUILT) })
        await bench.client.threads.waitUntilSettled(thread, { deadlineMs: SETTLE_DEADLINE_MS })
      }
    })
  },
  async fill({ client, fresh, sql }, jobs, units) {
    const threads = builtThreads(units)
    await inParallel([...Array(jobs).keys()], CALLS_AT_ONCE, (job) => {
      const thread = threads[job % threads.length] ?? ''
      // Each asks something else, so each gets a context of its own.
      const request = { thread, message: fresh('question'), budget: units * TOKENS_PER_UNIT }
      return client.contexts.order({ ...request, format: 'openai-chat' }, { deadlineMs: APPEND_DEADLINE_MS })
    })
    return () => isEmpty(sql`select from heddle.contexts where status = 'requested' limit 1`)
  },
}

export const stageBacklogs: readonly StageBacklog[] = [ingest, prune, summarize, embed, remember, assemble]

export async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS))
}

/** Stages that only prepare a backlog: they are stopped before it is drained. */
async function withHelper(bench: Bench, helpers: readonly StageName[], work: () => Promise<void>): Promise<void> {
  const workers = await bench.startStages(...helpers)
  try {
    await work()
  } finally {
    await workers.stop()
  }
}

interface Append {
  readonly agent: string
  readonly thread: string
  readonly messages: readonly NewMessage[]
  readonly ack?: 'queued'
}

function append({ client }: Bench, asked: Append): Promise<unknown> {
  return client.messages.append({ ...asked, newAgentRollingWindow: null, deadlineMs: APPEND_DEADLINE_MS })
}

async function appendEach(
  bench: Bench,
  threads: readonly string[],
  agents: readonly string[],
  units: number,
): Promise<void> {
  await inParallel(threads, CALLS_AT_ONCE, (thread, index) =>
    append(bench, { agent: agents[index % agents.length] ?? '', thread, messages: conversationOf(units, index) }),
  )
}

function freshAgents({ fresh }: Bench, jobs: number): string[] {
  return Array.from({ length: Math.ceil(jobs / THREADS_PER_AGENT) }, () => fresh('owner'))
}

async function putAgents(bench: Bench, jobs: number, settings: object): Promise<string[]> {
  const agents = freshAgents(bench, jobs)
  await inParallel(agents, CALLS_AT_ONCE, (agent) =>
    bench.client.agents.put(agent, { settings: { rollingWindow: null, ...settings } }),
  )
  return agents
}

function freshThreads({ fresh }: Bench, count: number): string[] {
  return Array.from({ length: count }, () => fresh('drained'))
}

function builtThreads(units: number): string[] {
  return Array.from({ length: THREADS_BUILT }, (_, index) => `built-${units}-${index}`)
}

/** Those that ingest woke have a waiting job already, and get no other. */
function wake({ queues, projectId }: Bench, stage: WakeStageName, threads: readonly string[]): Promise<void> {
  return queues.wakeMany(
    stage,
    threads.map((thread) => ({ projectId, threadId: threadIdOf(projectId, thread) })),
  )
}

/** Threads with appended messages, of which the stage has done nothing yet. */
async function fillAppended(
  bench: Bench,
  given: {
    readonly jobs: number
    readonly units: number
    readonly stage: 'prune' | 'embed'
    readonly cursor: 'prune_seq' | 'embed_seq'
  },
): Promise<() => Promise<boolean>> {
  const threads = freshThreads(bench, given.jobs)
  await withHelper(bench, ['ingest'], () => appendEach(bench, threads, freshAgents(bench, given.jobs), given.units))
  await wake(bench, given.stage, threads)
  return () => isAtHead(bench, given.cursor)
}

function isAtHead({ sql }: Bench, cursor: 'prune_seq' | 'embed_seq' | 'remember_seq'): Promise<boolean> {
  return isEmpty(sql`select from heddle.stage_cursors where ${sql(cursor)} < head_seq limit 1`)
}

async function isEmpty(query: PromiseLike<readonly unknown[]>): Promise<boolean> {
  return (await query).length === 0
}

async function countMessages({ sql }: Bench): Promise<number> {
  const [row] = await sql<{ sum: string }[]>`select coalesce(sum(head_seq), 0) as sum from heddle.stage_cursors`
  return Number(row?.sum)
}

async function countThreads({ sql }: Bench): Promise<number> {
  const [row] = await sql<{ count: string }[]>`select count(*) as count from heddle.threads`
  return Number(row?.count)
}
