import { z } from 'zod'
import { errorDataSchema } from '../contexts/contexts.js'
import { idSchema, nameSchema } from '../primitives/names.js'

/** Events carry ids, never contents: who needs more reads the row. */
export const eventTopics = ['message.stored', 'thread.compacted', 'context.built', 'snapshot.saved'] as const
export type EventTopic = (typeof eventTopics)[number]

export const eventSchema = z.object({
  projectId: idSchema,
  /** Position in the project's log, without gaps: where a subscriber resumes. */
  number: z.int().min(1),
  topic: z.enum(eventTopics),
  threadId: idSchema.nullable(),
  /** What the event is about: a context, a snapshot, a context state. */
  subjectId: idSchema.nullable(),
  /** The thread's head when the event was made. */
  headSeq: z.int().nullable(),
})
export type HeddleEvent = z.infer<typeof eventSchema>

/** An event as it is given to who follows, with the names of what its ids stand for; null where that is gone or is not of any. */
export const followedEventSchema = eventSchema.extend({
  thread: nameSchema.nullable().optional(),
  agent: nameSchema.nullable().optional(),
})
export type FollowedEvent = z.infer<typeof followedEventSchema>

/** The answer to a job whose sender waits for it. It points at rows; only errors and small answers travel in it. */
export const replySchema = z.object({
  requestId: idSchema,
  ok: z.boolean(),
  error: errorDataSchema.optional(),
  /** The content of the row that the reply names, where the receiver accepts it and the channel can carry its size. */
  answer: z.unknown().optional(),
})
export type Reply = z.infer<typeof replySchema>
