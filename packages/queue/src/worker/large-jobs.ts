import type { Job } from './job.js'
import type { Outcome } from './outcome.js'

/** How much a job has to read and to compute with: messages, and the tokens in them. */
export interface WorkSize {
  readonly messages: number
  readonly tokens: number
}

/**
 * Jobs that would hold the event loop of their process for long, because they compute over many messages, are carried out
 * elsewhere: all that others wait for goes through that loop.
 */
export interface LargeJobs<Payload, Event> {
  /** What a job may be and still be carried out where it was taken from the queue. */
  readonly sizeMax: WorkSize
  /**
   * Carries a job out as its stage's handler does.
   *
   * @returns what the handler returns, and the events that are to be published then
   * @throws what the handler throws; RetryableError where the job could not be carried out elsewhere
   */
  carryOut(job: Job<Payload>, size: WorkSize): Promise<CarriedOut<Event>>
}

export interface CarriedOut<Event> {
  readonly outcome: Outcome
  readonly events: readonly Event[]
}

/** What a handler throws once it sees that its job is larger than it may be here, before it has changed anything. */
export class LargeJobError extends Error {
  override name = 'LargeJobError'
  readonly size: WorkSize

  constructor(size: WorkSize) {
    super(`a job of ${size.messages} messages and ${size.tokens} tokens is too large to be carried out here`)
    this.size = size
  }
}

/** @throws LargeJobError where the size is above the bound; without a bound every job is carried out here */
export function refuseLargeJob(size: WorkSize, sizeMax: WorkSize | undefined): void {
  if (sizeMax === undefined) return
  if (size.messages > sizeMax.messages || size.tokens > sizeMax.tokens) throw new LargeJobError(size)
}

export interface LargeJobHandling<Payload, Event> {
  readonly job: Job<Payload>
  /** Where large jobs are carried out. Without it all of them are carried out here. */
  readonly large: LargeJobs<Payload, Event> | undefined
  /** The handler of the stage, with the bound that it must hold. */
  readonly here: (sizeMax: WorkSize | undefined) => Promise<Outcome>
  /** Publishes an event that a job elsewhere led to. */
  readonly publish: (event: Event) => void
}

/** Carries a job out here where it is small enough, else elsewhere. */
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
