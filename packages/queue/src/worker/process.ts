import {
  type ErrorData,
  errorData,
  isWakeStage,
  PermanentError,
  parse,
  type StageName,
  type StagePayload,
  stages,
  stalledCountMax,
} from '@heddle/contracts'
import { currentTrace, EventLoopYielder } from '@heddle/runtime'
import { DelayedError, UnrecoverableError, WaitingError } from 'bullmq'
import { carrierIn, linkCarrier } from '../send/carrier.js'
import { decodePayload, originOf, type PayloadOrigin } from '../send/payload.js'
import type { BullJob } from './bull-worker.js'
import type { JobSender, Settled, WorkerOptions } from './job.js'
import type { Answer, Outcome } from './outcome.js'
import { judge, RetryLater, retryDelayMs } from './retry.js'
import { workerStops } from './stopping.js'
import { tracedJob } from './traced-job.js'

export interface ProcessorHooks {
  /** An attempt has ended; BullMQ will record it and emit an event. */
  ending(settled: Settled): void
  /** An attempt has ended, and BullMQ will emit no event. */
  ended(settled: Settled): void
}

export type ProcessorOptions<Name extends StageName> = WorkerOptions<Name> & { readonly queues: JobSender }

/** One attempt of one job. BullMQ learns its outcome from the thrown error. */
interface Attempt<Name extends StageName> {
  options: ProcessorOptions<Name>
  hooks: ProcessorHooks
  bullJob: BullJob
  token: string
  signal: AbortSignal
  payload: unknown
  origin: PayloadOrigin
  jobId: string
  attempt: number
  attemptsMax: number
  startedAtMs: number
}

export function createProcessor<Name extends StageName>(options: ProcessorOptions<Name>, hooks: ProcessorHooks) {
  const yielder = new EventLoopYielder()
  // BullMQ passes a signal only to functions with three parameters.
  return (bullJob: BullJob, token: string | undefined, signal: AbortSignal | undefined): Promise<void> => {
    // An idle worker may get hundreds of jobs at once: parsing all of them first would delay the first ones.
    const pause = yielder.next()
    return pause === null ? begin(bullJob, token, signal) : pause.then(() => begin(bullJob, token, signal))
  }

  function begin(bullJob: BullJob, token: string | undefined, signal: AbortSignal | undefined): Promise<void> {
    const payload = decodePayload(bullJob.data)
    const attempt: Attempt<Name> = {
      options,
      hooks,
      bullJob,
      token: token ?? '',
      signal: signal ?? new AbortController().signal,
      payload,
      origin: originOf(payload),
      jobId: bullJob.id ?? '',
      attempt: bullJob.attemptsMade + 1,
      attemptsMax: options.attempts ?? stages[options.stage].attempts,
      startedAtMs: performance.now(),
    }
    return tracedJob(
      {
        stage: options.stage,
        jobId: attempt.jobId,
        attempt: attempt.attempt,
        addedAtMs: bullJob.timestamp,
        carrier: carrierIn(bullJob.opts),
      },
      () => carryOut(attempt),
    )
  }
}

async function carryOut<Name extends StageName>(attempt: Attempt<Name>): Promise<void> {
  try {
    await finish(attempt, await handle(attempt))
  } catch (error) {
    await fail(attempt, error)
  }
}

/**
 * Checks the job, parses its payload and calls the handler. Not async: a worker has hundreds of jobs at once, and each async
 * function has a promise and a state for each of them.
 */
function handle<Name extends StageName>(current: Attempt<Name>): Promise<Outcome> {
  const { options, bullJob, origin, jobId, attempt, attemptsMax, signal } = current
  const { stage, queues } = options
  // Checked here and not by BullMQ, which would fail the job without a dead letter.
  if (bullJob.stalledCounter > stalledCountMax) {
    throw new PermanentError('INTERNAL', `${bullJob.stalledCounter} workers died or hung while they processed this job`)
  }
  const payload = parse(stages[stage].schema, current.payload, `${stage} job`) as StagePayload<Name>
  const answerBytesMax = origin.replyTo === null ? 0 : queues.answerBytesMax(origin.replyTo)
  return options.handler({ payload, jobId, attempt, attemptsMax, answerBytesMax, signal })
}

/** Wakes the next stages and replies. */
async function finish<Name extends StageName>(current: Attempt<Name>, outcome: Outcome): Promise<void> {
  const { options, origin, jobId } = current
  const { stage, queues } = options
  // Before the job is completed: a crash in between repeats the job and the wakes.
  if (outcome.next.length > 0) {
    const carrier = isWakeStage(stage) ? linkCarrier() : currentTrace()
    await Promise.all(
      outcome.next.map(({ wake, projectId, threadId, ...next }) =>
        queues.wake(wake, { projectId, threadId }, next.carrier ?? carrier),
      ),
    )
  }
  // Not awaited: the result is stored already, and the job can be completed without its reply.
  void reply(current, { answer: outcome.kind === 'done' ? outcome.answer : undefined })
  if (outcome.kind === 'skipped')
    options.log.debug({ stage, jobId, reason: outcome.reason, ...ids(origin) }, 'job skipped')
  current.hooks.ending(settledAs(current, outcome.kind))
}

async function fail<Name extends StageName>(current: Attempt<Name>, error: unknown): Promise<never> {
  const { options, bullJob, token, jobId, attempt, attemptsMax, signal, origin } = current
  const { stage, log } = options
  if (signal.aborted && signal.reason === workerStops) {
    await bullJob.moveToWait(token)
    current.hooks.ended(settledAs(current, 'returned'))
    throw new WaitingError()
  }
  const verdict = judge({ stage, error, attempt, attemptsMax })
  const facts = { error, stage, jobId, attempt, attemptsMax, ...ids(origin) }
  if (verdict.kind === 'retry') {
    log.warn({ ...facts, delayMs: verdict.delayMs }, 'job failed, will be retried')
    current.hooks.ending(settledAs(current, 'retried', errorData(error)))
    throw new RetryLater(error, verdict.delayMs)
  }
  await storeDeadLetter(current, error)
  log.error(facts, 'job failed permanently')
  await reply(current, { error: errorData(error) })
  current.hooks.ending(settledAs(current, 'dead', errorData(error)))
  throw new UnrecoverableError(errorData(error).code)
}

/** Stores the dead letter. While the store is down the job stays in the queue, at its last attempt. */
async function storeDeadLetter<Name extends StageName>(current: Attempt<Name>, error: unknown): Promise<void> {
  const { options, bullJob, token, payload, jobId, attempt, origin } = current
  const { stage, log } = options
  try {
    await options.recordDeadLetter({
      stage,
      jobId,
      payload,
      projectId: origin.projectId,
      threadId: origin.threadId,
      error: errorData(error),
      attempts: attempt,
    })
  } catch (storeError) {
    const delayMs = retryDelayMs(stage, attempt, storeError)
    log.error(
      { error: storeError, stage, jobId, delayMs },
      'storing a dead letter failed: the job stays in the queue, will be retried',
    )
    await bullJob.moveToDelayed(Date.now() + delayMs, token)
    current.hooks.ended(settledAs(current, 'retried', errorData(storeError)))
    throw new DelayedError()
  }
}

/** A reply that cannot be sent only delays its receiver, which also polls the store. */
async function reply<Name extends StageName>(
  current: Attempt<Name>,
  { error, answer }: { readonly error?: ErrorData; readonly answer?: Answer | undefined },
): Promise<void> {
  const { replyTo, requestId } = current.origin
  const { queues, log, stage } = current.options
  if (replyTo === null || requestId === null) return
  try {
    await queues.reply(replyTo, error === undefined ? { requestId, ok: true } : { requestId, ok: false, error }, answer)
  } catch (sendError) {
    log.warn({ error: sendError, stage, requestId }, 'sending a reply failed; its receiver reads the store')
  }
}

function settledAs<Name extends StageName>(
  current: Attempt<Name>,
  result: Settled['result'],
  error?: ErrorData,
): Settled {
  const { options, jobId, attempt, startedAtMs } = current
  const durationMs = performance.now() - startedAtMs
  return { stage: options.stage, jobId, attempt, result, durationMs, error }
}

function ids({ projectId, threadId, requestId }: PayloadOrigin): Record<string, string> {
  return {
    ...(projectId !== null && { projectId }),
    ...(threadId !== null && { threadId }),
    ...(requestId !== null && { requestId }),
  }
}
