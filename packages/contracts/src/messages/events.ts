import { z } from 'zod'
import { errorDataSchema } from '../contexts/contexts.js'
import { idSchema, nameSchema } from '../primitives/names.js'

/** Events carry ids, never contents: a subscriber that needs more reads the row. */
export const eventTopics = ['message.stored', 'thread.compacted', 'context.built', 'snapshot.saved'] as const
export type EventTopic = (typeof eventTopics)[number]

export const eventSchema = z.object({
  projectId: idSchema,
  /** Position in the project's log, without gaps, from which a subscriber resumes. */
  number: z.int().min(1),
  topic: z.enum(eventTopics),
  threadId: idSchema.nullable(),
  /** The subject of the event: a context, a snapshot, or a context state. */
  subjectId: idSchema.nullable(),
  /** The thread's head when the event was made. */
  headSeq: z.int().nullable(),
})
export type HeddleEvent = z.infer<typeof eventSchema>

/** An event for a subscriber, with the names of its ids; null if the object no longer exists or does not apply. */
export const followedEventSchema = eventSchema.extend({
  thread: nameSchema.nullable().optional(),
  agent: nameSchema.nullable().optional(),
})
export type FollowedEvent = z.infer<typeof followedEventSchema>

/** The reply to a job whose sender waits. It points at rows; only errors and small answers are included. */
export const replySchema = z.object({
  requestId: idSchema,
  ok: z.boolean(),
  error: errorDataSchema.optional(),
  /** The content of the named row, if the receiver accepts it and it is small enough for the channel. */
  answer: z.unknown().optional(),
})
export type Reply = z.infer<typeof replySchema>
