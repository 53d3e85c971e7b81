import { z } from 'zod'
import { type EventTopic, eventTopics, followedEventSchema } from '../messages/events.js'
import { nameSchema } from '../primitives/names.js'
import { eventNumberSchema, named } from './common.js'

const topicSchema = z.enum(eventTopics, { error: `must be one of ${eventTopics.join(', ')}` })

export const eventsQuerySchema = z.strictObject({
  /** Comma-separated topics. Default: all. */
  topics: z
    .string()
    .min(1, 'must not be empty')
    .max(200)
    .transform((text): EventTopic[] => text.split(',') as EventTopic[])
    .pipe(z.array(topicSchema).max(eventTopics.length))
    .optional(),
  /** Only events of this thread. */
  thread: nameSchema.optional(),
  /** Only events of this agent: of its threads and its snapshots. */
  agent: nameSchema.optional(),
  /** The number of the last event that the caller received, if it cannot send `Last-Event-ID`. */
  after: eventNumberSchema.optional(),
})

export const httpEventSchema = named('Event', followedEventSchema)
