import { type ErrorCode, type IngestJob, limits } from '@heddle/contracts'
import type { Measured } from '@heddle/test-support/figure'
import { textOf } from '@heddle/test-support/samples/texts'
import { breakPayloads } from '@heddle/test-support/servers/queue-server'
import { v7 } from 'uuid'
import type { Bench } from '../bench.js'
import { interleaved, median, timed } from '../load/statistics.js'

const THREADS = 200
const JOBS = 3_000
const POISON_SHARE = 0.01
const ROUNDS = 9
const POLL_EVERY_MS = 10
/** The payload of a job that is not JSON. */
const BREAK_ME = 'break-me'
/** A stored message with which a later job conflicts. */
const TAKEN_ID = v7()

type Poison = (job: IngestJob) => unknown

/** The fault of a job, and the code of its dead letter. */
const kinds: Readonly<Record<string, { code: ErrorCode; poison: Poison }>> = {
  malformed: { code: 'VALIDATION_ERROR', poison: (job) => ({ ...job, messages: 'none' }) },
  'too many messages': {
    code: 'VALIDATION_ERROR',
    poison: (job) => ({
      ...job,
      messages: Array.from({ length: limits.messagesPerJobMax + 1 }, () => withMessage(job, { content: 'x' })),
    }),
  },
  'handler throws': {
    code: 'CONFLICT',
    poison: (job) => ({ ...job, messages: [withMessage(job, { id: TAKEN_ID, content: 'another' })] }),
  },
  'of another agent': { code: 'CONFLICT', poison: (job) => ({ ...job, agent: 'somebody else' }) },
  'of no project': { code: 'VALIDATION_ERROR', poison: (job) => ({ ...job, projectId: 'nobody' }) },
  'no JSON': { code: 'VALIDATION_ERROR', poison: (job) => ({ ...job, agent: BREAK_ME }) },
}

/**
 * The throughput of jobs of one message while one job in a hundred is poison, beside that of the same jobs without poison.
 * All of them wait when the worker starts, so that only the worker is measured. Each poison job must become a dead letter.
 * All are small: a job of some megabytes costs the same, poison or not.
 */
export async function measurePoison(bench: Bench): Promise<Measured[]> {
  const threads = Array.from({ length: THREADS }, () => bench.fresh('poison'))
  const workers = await bench.startStages('ingest')
  await prepare(bench, threads)
  let expected = new Map<string, number>()
  let stored = await storedIn(bench, threads)
  const drain = async (jobs: readonly unknown[], good: number) => {
    await bench.queues.pause('ingest')
    await bench.queues.addMany('ingest', jobs as IngestJob[])
    await breakPayloads(bench.place, 'ingest', BREAK_ME)
    stored += good
    const tookMs = await timed(async () => {
      await bench.queues.resume('ingest')
      while ((await storedIn(bench, threads)) < stored) await pause()
    })
    return (good * 1_000) / tookMs
  }
  const rates = await interleaved(ROUNDS, {
    poisoned: async () => {
      const { jobs, codes } = poisonedJobs(bench, threads)
      expected = addUp(expected, codes)
      const rate = await drain(jobs, JOBS - codes.length)
      await untilBuried(bench, expected)
      return rate
    },
    clean: () => drain(goodJobs(bench, threads, JOBS), JOBS),
  })
  await workers.stop()
  const spread = (values: readonly number[]) => values.map((value) => Math.round(value)).join(', ')
  return [
    {
      name: `ingest.poison.${bench.servers.backend}`,
      value: median(rates.poisoned),
      unit: 'messages/s',
      ceiling: median(rates.clean),
      target: '>= 0.9',
      note: `rounds: ${spread(rates.poisoned)} against ${spread(rates.clean)}`,
    },
  ]
}

/** Creates the threads, and the message with which later jobs conflict. */
async function prepare({ client }: Bench, threads: readonly string[]): Promise<void> {
  const append = (thread: string, id: string) =>
    client.messages.append({ agent: 'producer', thread, messages: [{ id, role: 'user', content: 'first' }] })
  await Promise.all(threads.map((thread) => append(thread, v7())))
  await append(threads[0] ?? '', TAKEN_ID)
}

function goodJobs({ projectId }: Bench, threads: readonly string[], count: number): IngestJob[] {
  const orderedAt = new Date().toISOString()
  return Array.from({ length: count }, (_, number) => ({
    projectId,
    requestId: v7(),
    agent: 'producer',
    thread: threads[number % threads.length] ?? '',
    messages: [{ message: { id: v7(), role: 'user' as const, content: textOf(number) }, ordinal: 0, orderedAt }],
  }))
}

/** Spread evenly; conflicting jobs go to the thread of the message that they conflict with. */
function poisonedJobs(bench: Bench, threads: readonly string[]): { jobs: unknown[]; codes: string[] } {
  const codes: string[] = []
  const all = Object.values(kinds)
  const every = Math.round(1 / POISON_SHARE)
  const jobs = goodJobs(bench, threads, JOBS).map((job, index): unknown => {
    if (index % every !== 0) return job
    const kind = all[codes.length % all.length]
    codes.push(kind?.code ?? '')
    return kind?.poison({ ...job, thread: threads[0] ?? '' })
  })
  return { jobs, codes }
}

function withMessage(job: IngestJob, fields: { id?: string; content: string }) {
  const [placed] = job.messages
  return { ...placed, message: { ...placed?.message, ...fields } }
}

function addUp(before: ReadonlyMap<string, number>, codes: readonly string[]): Map<string, number> {
  const sums = new Map(before)
  for (const code of codes) sums.set(code, (sums.get(code) ?? 0) + 1)
  return sums
}

async function storedIn({ sql }: Bench, threads: readonly string[]): Promise<number> {
  const [row] = await sql<{ stored: number }[]>`
    select coalesce(sum(cursor.head_seq), 0)::int as stored
    from heddle.stage_cursors as cursor join heddle.threads as thread on thread.id = cursor.thread_id
    where thread.name in ${sql(threads)}`
  return row?.stored ?? 0
}

async function untilBuried({ sql }: Bench, expected: ReadonlyMap<string, number>): Promise<void> {
  const wanted = JSON.stringify([...expected].sort())
  const endsAtMs = performance.now() + 30_000
  for (;;) {
    const rows = await sql<{ code: string; count: number }[]>`
      select error ->> 'code' as code, count(*)::int as count from heddle.dead_letters where stage = 'ingest' group by 1`
    const found = JSON.stringify(rows.map(({ code, count }) => [code, count]).sort())
    if (found === wanted) return
    if (performance.now() > endsAtMs) throw new Error(`dead letters are ${found}, but should be ${wanted}`)
    await pause()
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS))
}
