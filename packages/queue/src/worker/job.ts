import type { ErrorData, Reply, StageName, StagePayload, WakeJob, WakeStageName } from '@heddle/contracts'
import type { Logger } from '@heddle/runtime'
import type { Answer, Outcome } from './outcome.js'

/** A job as a handler sees it. */
export interface Job<Payload> {
  payload: Payload
  jobId: string
  /** From 1. */
  attempt: number
  attemptsMax: number
  /** The largest answer that goes along with the reply, in bytes as it is written into it. Default none does. */
  answerBytesMax?: number
  /** Aborted when the worker must stop, or when another worker took the job over. */
  signal: AbortSignal
}

/** A job that failed for good, as it is kept in the store. */
export interface DeadLetter {
  stage: StageName
  jobId: string
  /** As it was in the queue: a poisoned one is of any shape. */
  payload: unknown
  projectId: string | null
  threadId: string | null
  error: ErrorData
  attempts: number
}

/** How a try of a job ended. */
export interface Settled {
  stage: StageName
  jobId: string
  attempt: number
  /** `retried`: it will be tried again; `returned`: it was handed back because the worker stops. */
  result: 'done' | 'skipped' | 'retried' | 'dead' | 'returned'
  /** Of this try, in milliseconds; how long the job waited before it does not count. */
  durationMs: number
  error?: ErrorData
}

export interface WorkerOptions<Name extends StageName> {
  stage: Name
  handler(job: Job<StagePayload<Name>>): Promise<Outcome>
  /** Must bear being called twice for one `(stage, jobId)`; a job is failed only after it has returned. */
  recordDeadLetter(letter: DeadLetter): Promise<void>
  log: Logger
  /** Jobs at once; default from the catalog. */
  concurrency?: number
  /** Tries before a job becomes a dead letter; default from the catalog. */
  attempts?: number
  /** For tests: how long a lock lasts, and how often orphaned jobs are looked for, in milliseconds. */
  timing?: { lockMs: number; stalledEveryMs: number }
}

/** The methods of `Queues` that a worker calls at the end of a job. */
export interface JobSender {
  wake(stage: WakeStageName, thread: WakeJob): Promise<void>
  reply(inbox: string, reply: Reply, answer?: Answer): Promise<void>
  answerBytesMax(inbox: string): number
}
