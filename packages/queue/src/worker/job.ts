import type { ErrorData, Reply, StageName, StagePayload, WakeJob, WakeStageName } from '@heddle/contracts'
import type { Logger } from '@heddle/runtime'
import type { Answer, Outcome } from './outcome.js'

/** A job as passed to a handler. */
export interface Job<Payload> {
  payload: Payload
  jobId: string
  /** From 1. */
  attempt: number
  attemptsMax: number
  /** Most bytes of an answer within the reply, as encoded. Default 0. */
  answerBytesMax?: number
  /** Aborted when the worker must stop, or when another worker has taken over the job. */
  signal: AbortSignal
}

/** A permanently failed job as kept in the store. */
export interface DeadLetter {
  stage: StageName
  jobId: string
  /** As in the queue: a malformed one has any shape. */
  payload: unknown
  projectId: string | null
  threadId: string | null
  error: ErrorData
  attempts: number
}

/** The outcome of one attempt of a job. */
export interface Settled {
  stage: StageName
  jobId: string
  attempt: number
  /** `retried`: another attempt follows; `returned`: the worker stops and has released the job. */
  result: 'done' | 'skipped' | 'retried' | 'dead' | 'returned'
  /** Of this attempt, in milliseconds, without the wait before it. */
  durationMs: number
  error?: ErrorData
}

export interface WorkerOptions<Name extends StageName> {
  stage: Name
  handler(job: Job<StagePayload<Name>>): Promise<Outcome>
  /** Must be idempotent for one `(stage, jobId)`; the job fails only after it has returned. */
  recordDeadLetter(letter: DeadLetter): Promise<void>
  log: Logger
  /** Concurrent jobs; default from the catalog. */
  concurrency?: number
  /** Attempts before a job becomes a dead letter; default from the catalog. */
  attempts?: number
  /** For tests: the lifetime of a lock, and the interval of the check for orphaned jobs, in milliseconds. */
  timing?: { lockMs: number; stalledEveryMs: number }
}

/** The methods of `Queues` that a worker calls at the end of a job. */
export interface JobSender {
  wake(stage: WakeStageName, thread: WakeJob, carrier?: string): Promise<void>
  reply(inbox: string, reply: Reply, answer?: Answer): Promise<void>
  answerBytesMax(inbox: string): number
}
