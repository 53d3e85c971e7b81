import {
  type ErrorData,
  errorData,
  PermanentError,
  parse,
  type StageName,
  type StagePayload,
  stages,
  stalledCountMax,
} from '@heddle/contracts'
import { EventLoopYielder } from '@heddle/runtime'
import { DelayedError, UnrecoverableError, WaitingError } from 'bullmq'
import { decodePayload, originOf, type PayloadOrigin } from '../send/payload.js'
import type { BullJob } from './bull-worker.js'
import type { JobSender, Settled, WorkerOptions } from './job.js'
import type { Answer } from './outcome.js'
import { judge, RetryLater, retryDelayMs } from './retry.js'
import { workerStops } from './stopping.js'

export interface ProcessorHooks {
  /** A try has ended; BullMQ still has to write that down, and will say so. */
  ending(settled: Settled): void
  /** A try has ended and BullMQ will not say so. */
  ended(settled: Settled): void
}

export type ProcessorOptions<Name extends StageName> = WorkerOptions<Name> & { readonly queues: JobSender }

/** One try of one job, from BullMQ's hands back into them: how it ends is said by what is thrown. */
interface Try<Name extends StageName> {
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
  const turns = new EventLoopYielder()
  // BullMQ counts the parameters to learn that a signal is wanted.
  return async (bullJob: BullJob, token: string | undefined, signal: AbortSignal | undefined): Promise<void> => {
    // A worker that was idle may get hundreds of jobs at once: to read them all would take the time of the first ones.
    const turn = turns.next()
    if (turn !== null) await turn
    const payload = decodePayload(bullJob.data)
    const attempt: Try<Name> = {
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
    try {
      await run(attempt)
    } catch (error) {
      await fail(attempt, error)
    }
  }
}

async function run<Name extends StageName>(current: Try<Name>): Promise<void> {
  const { options, bullJob, origin, jobId, attempt, attemptsMax, signal } = current
  const { stage, queues } = options
  // Counted here and not by BullMQ, which would fail the job without a dead letter.
  if (bullJob.stalledCounter > stalledCountMax) {
    throw new PermanentError('INTERNAL', `${bullJob.stalledCounter} workers died or hung over this job`)
  }
  const payload = parse(stages[stage].schema, current.payload, `${stage} job`) as StagePayload<Name>
  const answerBytesMax = origin.replyTo === null ? 0 : queues.answerBytesMax(origin.replyTo)
  const outcome = await options.handler({ payload, jobId, attempt, attemptsMax, answerBytesMax, signal })
  // Before the job is done with: a crash in between repeats the job, and the wakes with it.
  if (outcome.next.length > 0)
    await Promise.all(outcome.next.map(({ wake, projectId, threadId }) => queues.wake(wake, { projectId, threadId })))
  // Beside the writing down of the end, which need not wait for it: what was done is done, whoever hears of it.
  void reply(current, { answer: outcome.kind === 'done' ? outcome.answer : undefined })
  if (outcome.kind === 'skipped')
    options.log.debug({ stage, jobId, reason: outcome.reason, ...ids(origin) }, 'job skipped')
  current.hooks.ending(settledAs(current, outcome.kind))
}

async function fail<Name extends StageName>(current: Try<Name>, error: unknown): Promise<never> {
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
    log.warn({ ...facts, delayMs: verdict.delayMs }, 'job failed, will be tried again')
    current.hooks.ending(settledAs(current, 'retried', errorData(error)))
    throw new RetryLater(error, verdict.delayMs)
  }
  await bury(current, error)
  log.error(facts, 'job failed for good')
  await reply(current, { error: errorData(error) })
  current.hooks.ending(settledAs(current, 'dead', errorData(error)))
  throw new UnrecoverableError(errorData(error).code)
}

/** Keeps the dead letter. While the store is away the job stays in the queue, at its last try. */
async function bury<Name extends StageName>(current: Try<Name>, error: unknown): Promise<void> {
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
      'a dead letter could not be kept: the job stays in the queue',
    )
    await bullJob.moveToDelayed(Date.now() + delayMs, token)
    current.hooks.ended(settledAs(current, 'retried', errorData(storeError)))
    throw new DelayedError()
  }
}

/** A reply that cannot be sent costs its reader a moment: it looks into the store besides. */
async function reply<Name extends StageName>(
  current: Try<Name>,
  { error, answer }: { readonly error?: ErrorData; readonly answer?: Answer | undefined },
): Promise<void> {
  const { replyTo, requestId } = current.origin
  const { queues, log, stage } = current.options
  if (replyTo === null || requestId === null) return
  try {
    await queues.reply(replyTo, error === undefined ? { requestId, ok: true } : { requestId, ok: false, error }, answer)
  } catch (sendError) {
    log.warn({ error: sendError, stage, requestId }, 'a reply could not be sent')
  }
}

function settledAs<Name extends StageName>(current: Try<Name>, result: Settled['result'], error?: ErrorData): Settled {
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
