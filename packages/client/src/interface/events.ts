import { eventTopics, type FollowedEvent, nameSchema } from '@heddle/contracts'
import { z } from 'zod'

export const followSchema = z.object({
  /** Default all. */
  topics: z.array(z.enum(eventTopics)).min(1).max(eventTopics.length).optional(),
  /** Only events of this thread. */
  thread: nameSchema.optional(),
  /** Only events of this agent: of its threads, and of its snapshots. */
  agent: nameSchema.optional(),
  /** The number of the last event that the caller knows. Default the latest: only what happens from now on. */
  after: z.int().min(0).optional(),
})

export interface FollowOptions extends z.input<typeof followSchema> {
  /** Ends it; nothing is kept for it afterwards. */
  readonly signal: AbortSignal
  /** Does each reading of the log, for whoever follows many and bounds what they read at once. Default at once. */
  readonly inTurn?: <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>
}

export interface FollowedEvents extends AsyncIterable<FollowedEvent> {
  /** The number after which they begin: where to come again before the first of them was given. */
  readonly after?: number
}

export interface SubscribeOptions extends Omit<FollowOptions, 'topics'> {}
