import { eventTopics, type FollowedEvent, nameSchema } from '@heddle/contracts'
import { z } from 'zod'

export const followSchema = z.object({
  /** Default: all. */
  topics: z.array(z.enum(eventTopics)).min(1).max(eventTopics.length).optional(),
  /** Only events of this thread. */
  thread: nameSchema.optional(),
  /** Only events of this agent: of its threads and its snapshots. */
  agent: nameSchema.optional(),
  /** The number of the last event that the caller received. Default the latest: only future events. */
  after: z.int().min(0).optional(),
})

export interface FollowOptions extends z.input<typeof followSchema> {
  /** Ends the subscription; nothing is stored for it afterwards. */
  readonly signal: AbortSignal
  /** Wraps each read of the log, for a caller that follows many and limits concurrent reads. Default: runs at once. */
  readonly inTurn?: <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>
}

export interface FollowedEvents extends AsyncIterable<FollowedEvent> {
  /** The number after which they begin: where to resume before the first of them was received. */
  readonly after?: number
}

export interface SubscribeOptions extends Omit<FollowOptions, 'topics'> {}
