import { z } from 'zod'
import { type EventTopic, eventTopics, followedEventSchema } from '../messages/events.js'
import { nameSchema } from '../primitives/names.js'
import { eventNumberSchema, named } from './common.js'

const topicSchema = z.enum(eventTopics, { error: `must be one of ${eventTopics.join(', ')}` })

export const eventsQuerySchema = z.strictObject({
  /** Topics with commas between them. Default all. */
  topics: z
    .string()
    .min(1, 'must not be empty')
    .max(200)
    .transform((text): EventTopic[] => text.split(',') as EventTopic[])
    .pipe(z.array(topicSchema).max(eventTopics.length))
    .optional(),
  /** Events of this thread only. */
  thread: nameSchema.optional(),
  /** Events of this agent only: of its threads, and of its snapshots. */
  agent: nameSchema.optional(),
  /** The number of the last event that the caller knows, where it cannot send `Last-Event-ID`. */
  after: eventNumberSchema.optional(),
})

export const httpEventSchema = named('Event', followedEventSchema)
