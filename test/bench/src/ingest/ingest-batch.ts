import type { Measured } from '@heddle/test-support/figure'
import { inParallel } from '@heddle/test-support/parallel'
import type { Bench } from '../bench.js'
import { conversationOf } from '../contexts/conversation.js'
import { interleaved, median, timed } from '../load/statistics.js'
import { insertRows, rowsOf } from './insert-ceiling.js'

const THREADS = 50
const JOBS_PER_THREAD = 10
const MESSAGES_PER_JOB = 100
const MESSAGES = THREADS * JOBS_PER_THREAD * MESSAGES_PER_JOB
/** Concurrent appends, each of one job. */
const APPENDS_AT_ONCE = 80
const ROUNDS = 5
/** Created before the measurement, like the rows of the ceiling, because the producer's own work is not measured. */
const conversations = Array.from({ length: JOBS_PER_THREAD }, (_, job) =>
  conversationOf(MESSAGES_PER_JOB, job * MESSAGES_PER_JOB),
)

/** 100 messages a job, until stored: the producer in this process, the ingest worker in another. */
export async function measureBatchIngest(bench: Bench): Promise<Measured[]> {
  const workers = await bench.startStages('ingest')
  const { stored, ceiling } = await measureRounds(bench, (threads) => append(bench, threads))
  const peakBytes = await workers.peakBytes()
  await workers.stop()
  return [
    {
      name: `ingest.batch.${bench.servers.backend}`,
      value: stored,
      unit: 'messages/s',
      ceiling,
      target: '>= 0.5',
    },
    { name: `ingest.memory.${bench.servers.backend}`, value: peakBytes / 1e6, unit: 'MB', target: '<= 300' },
  ]
}

/** The same including exact token counts, which the prune stage computes in another process. */
export async function measureCountedIngest(bench: Bench): Promise<Measured[]> {
  const workers = [await bench.startStages('ingest'), await bench.startStages('prune')]
  const { stored, ceiling } = await measureRounds(bench, async (threads) => {
    await append(bench, threads)
    await untilCounted(bench, threads)
  })
  await Promise.all(workers.map((each) => each.stop()))
  return [
    {
      name: `ingest.counted.${bench.servers.backend}`,
      value: stored,
      unit: 'messages/s',
      ceiling,
      target: '>= 0.3',
    },
  ]
}

async function measureRounds(bench: Bench, ingest: (threads: readonly string[]) => Promise<void>) {
  const tookMs = await interleaved(ROUNDS, {
    stored: () => {
      const threads = Array.from({ length: THREADS }, () => bench.fresh('batch'))
      return timed(() => ingest(threads))
    },
    ceiling: () => {
      const rows = rowsOf(bench.projectId, THREADS, MESSAGES / THREADS)
      return timed(() => insertRows(bench.sql, rows))
    },
  })
  const rate = (rounds: readonly number[]) => (MESSAGES * 1_000) / median(rounds)
  return { stored: rate(tookMs.stored), ceiling: rate(tookMs.ceiling) }
}

async function append({ client }: Bench, threads: readonly string[]): Promise<void> {
  const jobs = Array.from({ length: JOBS_PER_THREAD }, (_, job) => threads.map((thread) => ({ thread, job }))).flat()
  await inParallel(jobs, APPENDS_AT_ONCE, ({ thread, job }) =>
    client.messages.append({
      agent: 'producer',
      thread,
      messages: conversations[job] ?? [],
      newAgentRollingWindow: null,
    }),
  )
}

const POLL_EVERY_MS = 20

async function untilCounted({ sql }: Bench, threads: readonly string[]): Promise<void> {
  for (;;) {
    const [row] = await sql<{ counted: number }[]>`
      select coalesce(sum(cardinality(tokens)), 0)::int as counted from heddle.message_tokens
      where thread_id in (select id from heddle.threads where name in ${sql(threads)})`
    if (row?.counted === MESSAGES) return
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS))
  }
}
