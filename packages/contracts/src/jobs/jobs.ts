import { z } from 'zod'
import { contextRequestSchema } from '../contexts/contexts.js'
import { messageCharacters, placedMessageSchema } from '../messages/messages.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import { settingsSchema } from '../settings/settings.js'

/** Where a reply to a job is published: the name of its sender's inbox. */
const replyToSchema = z.string().min(1).max(100).optional()

/** The job that carries messages. All of them belong to one thread. */
export const ingestJobSchema = z.strictObject({
  projectId: idSchema,
  /** The id of this job's request: the sender awaits the reply under it. */
  requestId: idSchema,
  replyTo: replyToSchema,
  agent: nameSchema,
  thread: nameSchema,
  /** The agent that an import creates has no rolling window: recorded sessions are old. Ignored where the agent exists. */
  newAgentRollingWindow: settingsSchema.shape.rollingWindow.optional(),
  messages: z
    .array(placedMessageSchema)
    .min(1, 'must hold at least one message')
    .max(limits.messagesPerJobMax)
    .refine(
      (messages) =>
        messages.reduce((sum, { message }) => sum + messageCharacters(message), 0) <= limits.charactersPerJobMax,
      `must have at most ${limits.charactersPerJobMax} characters together`,
    ),
})
export type IngestJob = z.infer<typeof ingestJobSchema>

/** A wake-up: there may be something to do for this thread. What it is stands in the store. */
export const wakeJobSchema = z.strictObject({ projectId: idSchema, threadId: idSchema })
export type WakeJob = z.infer<typeof wakeJobSchema>

/** A context was requested: the request is the row `contextId`, or stands in the job until there is one. */
const contextJobSchema = z.strictObject({
  projectId: idSchema,
  contextId: idSchema,
  replyTo: replyToSchema,
  /** Of the request: a worker that has built its like looks at once whether it can begin with that. */
  requestKey: z.string().max(100).optional(),
  /** Whose request it carries: an erasure finds the job by it. */
  threadId: idSchema.optional(),
  /** What is asked for, where nobody has made a row of it: the worker does, with its answer. */
  asked: z.strictObject({ request: contextRequestSchema, deadlineAtMs: z.number() }).optional(),
  /** Whether the reply may bring the context itself. */
  wantsAnswer: z.boolean().optional(),
})
export type ContextJob = z.infer<typeof contextJobSchema>

/** A snapshot was requested: the request is the row `snapshotId`. */
const snapshotJobSchema = z.strictObject({ projectId: idSchema, snapshotId: idSchema, replyTo: replyToSchema })
export type SnapshotJob = z.infer<typeof snapshotJobSchema>

export const assembleJobSchema = z.union([contextJobSchema, snapshotJobSchema])
export type AssembleJob = z.infer<typeof assembleJobSchema>
