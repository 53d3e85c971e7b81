import type { Measured } from '@heddle/test-support/figure'
import { inParallel } from '@heddle/test-support/parallel'
import { textOf } from '@heddle/test-support/samples/texts'
import { v7 } from 'uuid'
import type { Bench } from '../bench.js'
import { interleaved, median, timed } from '../load/statistics.js'
import { untilSettled } from '../settled.js'

const THREADS = 1_000
const MESSAGES = 2_000
const APPENDS_AT_ONCE = 1_000
const ROUNDS = 5
/** Most of it is spent waiting for the stages, which process all threads after each round. */
const ROUNDS_MS_MAX = 60_000

/**
 * One message a job over 1,000 threads until stored, with all stages running: ingest in one process, the stages that it wakes
 * in another. The ceiling: jobs of the same size that a plain BullMQ worker completes. The note gives the same for Heddle's
 * queues, which batch jobs.
 */
export async function measureSingleIngest(bench: Bench): Promise<Measured[]> {
  const ingest = await bench.startStages('ingest')
  const others = await bench.startStages('prune', 'summarize', 'embed', 'assemble')
  const noOp = await bench.startNoOp('ingest')
  const bullMq = await bench.startBullMq()
  const threads = Array.from({ length: THREADS }, () => bench.fresh('single'))
  const tookMs = await interleaved(
    ROUNDS,
    {
      stored: async (round) => {
        await untilSettled(bench, 'single-')
        return await timed(() => append(bench, threads, round * MESSAGES))
      },
      ceiling: async () => {
        // The stages woken by the previous round must not slow down the ceiling.
        await untilSettled(bench, 'single-')
        const jobs = noOpJobs(bench)
        return await timed(async () => {
          const done = bullMq.workers.whenDone(MESSAGES)
          await bullMq.queue.addAll(jobs)
          await done
        })
      },
      together: async () => {
        await untilSettled(bench, 'single-')
        const jobs = noOpJobs(bench)
        return await timed(async () => {
          const done = noOp.whenDone(MESSAGES)
          await bench.noOp.addMany('ingest', jobs)
          await done
        })
      },
    },
    ROUNDS_MS_MAX,
  )
  await Promise.all([ingest, others, noOp, bullMq.workers].map((workers) => workers.stop()))
  const rate = (rounds: readonly number[]) => (MESSAGES * 1_000) / median(rounds)
  return [
    {
      name: `ingest.single.${bench.servers.backend}`,
      value: rate(tookMs.stored),
      unit: 'messages/s',
      ceiling: rate(tookMs.ceiling),
      target: '>= 0.6',
      note: `${Math.round(rate(tookMs.together))} jobs/s by Heddle's own queues`,
    },
  ]
}

async function append({ client }: Bench, threads: readonly string[], first: number): Promise<void> {
  const numbers = Array.from({ length: MESSAGES }, (_, index) => first + index)
  await inParallel(numbers, APPENDS_AT_ONCE, (number) =>
    client.messages.append({
      agent: 'producer',
      thread: threads[number % THREADS] ?? '',
      messages: [{ role: 'user', content: textOf(number) }],
      newAgentRollingWindow: null,
    }),
  )
}

/** As `messages.append` would send them. */
function noOpJobs({ projectId }: Bench) {
  const orderedAt = new Date().toISOString()
  return Array.from({ length: MESSAGES }, (_, number) => ({
    projectId,
    requestId: v7(),
    agent: 'producer',
    thread: `single-${number % THREADS}`,
    newAgentRollingWindow: null,
    messages: [
      {
        message: { id: v7(), role: 'user' as const, content: textOf(number) },
        ordinal: 0,
        orderedAt,
      },
    ],
  }))
}
