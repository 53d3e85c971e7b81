import { queueName, type StageName } from '@heddle/contracts'
import { beginSpan, traced } from '@heddle/runtime'
import { causesIn } from '../send/carrier.js'

export interface TracedJob {
  readonly stage: StageName
  readonly jobId: string
  readonly attempt: number
  /** In milliseconds since 1970. */
  readonly addedAtMs: number
  /** From the options of the job; undefined if it belongs to no recorded trace. */
  readonly carrier: string | undefined
}

/** Runs an attempt of a job as a span of the trace that caused it, beside one for its wait in the queue. */
export function tracedJob(job: TracedJob, work: () => Promise<void>): Promise<void> {
  return job.carrier === undefined ? work() : traceCaused(job, job.carrier, work)
}

async function traceCaused(job: TracedJob, carrier: string, work: () => Promise<void>): Promise<void> {
  const { stage, jobId, attempt, addedAtMs } = job
  const { parent, links } = causesIn(carrier)
  const queue = queueName(stage)
  const nowMs = Date.now()
  // A retry has waited for its delay, too, which is not the wait of a queue.
  const isFirst = attempt === 1
  if (isFirst && parent !== null)
    beginSpan(`wait ${queue}`, {
      parent,
      startedAtMs: Math.min(addedAtMs, nowMs),
      attributes: { 'heddle.stage': stage },
    })?.end()
  await traced(
    `process ${queue}`,
    {
      kind: 'consumer',
      parent,
      links,
      attributes: {
        'messaging.system': 'bullmq',
        'messaging.operation.type': 'process',
        'messaging.destination.name': queue,
        'messaging.message.id': jobId,
        'heddle.stage': stage,
        'heddle.attempt': attempt,
        // By two clocks, if the producer is on another machine.
        'heddle.wait_ms': isFirst ? Math.max(0, nowMs - addedAtMs) : undefined,
        'heddle.merged_wakes': links.length === 0 ? undefined : links.length,
      },
    },
    work,
  )
}
