import type { Job } from './job.js'
import type { Outcome } from './outcome.js'

/** Size of a job's input: messages, and the tokens in them. */
export interface WorkSize {
  readonly messages: number
  readonly tokens: number
}

/**
 * Runs large jobs elsewhere, for example in a thread: a computation over many messages would block the event loop of the
 * process, and with it all other jobs.
 */
export interface LargeJobs<Payload, Event> {
  /** The largest job that runs in the process that fetched it. */
  readonly sizeMax: WorkSize
  /**
   * Runs a job like the handler of its stage.
   *
   * @returns the handler's outcome, and the events to publish
   * @throws the handler's error; RetryableError if the job could not be run elsewhere
   */
  carryOut(job: Job<Payload>, size: WorkSize): Promise<CarriedOut<Event>>
}

export interface CarriedOut<Event> {
  readonly outcome: Outcome
  readonly events: readonly Event[]
}

/** Thrown by a handler whose job is too large for its process, before it has changed anything. */
export class LargeJobError extends Error {
  override name = 'LargeJobError'
  readonly size: WorkSize

  constructor(size: WorkSize) {
    super(`a job of ${size.messages} messages and ${size.tokens} tokens is too large for this process`)
    this.size = size
  }
}

/** @throws LargeJobError if the size is above the limit; without a limit every job runs here */
export function refuseLargeJob(size: WorkSize, sizeMax: WorkSize | undefined): void {
  if (sizeMax === undefined) return
  if (size.messages > sizeMax.messages || size.tokens > sizeMax.tokens) throw new LargeJobError(size)
}

export interface LargeJobHandling<Payload, Event> {
  readonly job: Job<Payload>
  /** Runs large jobs. If undefined, all jobs run here. */
  readonly large: LargeJobs<Payload, Event> | undefined
  /** The handler of the stage, with the limit of its jobs' size. */
  readonly here: (sizeMax: WorkSize | undefined) => Promise<Outcome>
  /** Publishes an event of a job that ran elsewhere. */
  readonly publish: (event: Event) => void
}

/** Runs a job here if it is small enough, otherwise elsewhere. */
export async function hereOrElsewhere<Payload, Event>(options: LargeJobHandling<Payload, Event>): Promise<Outcome> {
  const { job, large, here, publish } = options
  try {
    return await here(large?.sizeMax)
  } catch (error) {
    if (large === undefined || !(error instanceof LargeJobError)) throw error
    const { outcome, events } = await large.carryOut(job, error.size)
    for (const event of events) publish(event)
    return outcome
  }
}
