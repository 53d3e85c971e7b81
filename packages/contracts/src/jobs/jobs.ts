import { z } from 'zod'
import { contextRequestSchema } from '../contexts/contexts.js'
import { onUsedIdSchema, placedCharacters, placedMessageSchema } from '../messages/messages.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import { settingsSchema } from '../settings/settings.js'

/** Where the reply to a job is published: the inbox of its sender. */
const replyToSchema = z.string().min(1).max(100).optional()

/** The job that carries messages, all of one thread. */
export const ingestJobSchema = z.strictObject({
  projectId: idSchema,
  /** The id of this job's request, under which the sender awaits the reply. */
  requestId: idSchema,
  replyTo: replyToSchema,
  agent: nameSchema,
  thread: nameSchema,
  /**
   * An agent created by an import has no rolling window, because recorded sessions are old. Ignored if the agent
   * exists.
   */
  newAgentRollingWindow: settingsSchema.shape.rollingWindow.optional(),
  onUsedId: onUsedIdSchema.optional(),
  messages: z
    .array(placedMessageSchema)
    .min(1, 'must hold at least one message')
    .max(limits.messagesPerJobMax)
    .refine(
      (messages) => messages.reduce((sum, placed) => sum + placedCharacters(placed), 0) <= limits.charactersPerJobMax,
      `must have at most ${limits.charactersPerJobMax} characters together`,
    ),
})
export type IngestJob = z.infer<typeof ingestJobSchema>

/** A wake-up: there may be work for this thread, which the stage determines from the store. */
export const wakeJobSchema = z.strictObject({ projectId: idSchema, threadId: idSchema })
export type WakeJob = z.infer<typeof wakeJobSchema>

/** A requested context: the request is in the row `contextId`, or in the job until the row exists. */
const contextJobSchema = z.strictObject({
  projectId: idSchema,
  contextId: idSchema,
  replyTo: replyToSchema,
  /**
   * Key of the request: a worker that has built a context with the same key checks whether it can reuse it. It may name an
   * earlier context that the sender has, whose differences the reply may contain (`keyWithBase`): a field of its own would
   * be refused by earlier workers.
   */
  requestKey: z.string().max(100).optional(),
  /** The thread of a request within the job, so that an erasure finds the job. */
  threadId: idSchema.optional(),
  /** The request, if it has no row yet: the worker then stores it together with its answer. */
  asked: z.strictObject({ request: contextRequestSchema, deadlineAtMs: z.number() }).optional(),
  /** Whether the reply may contain the context itself. */
  wantsAnswer: z.boolean().optional(),
})
export type ContextJob = z.infer<typeof contextJobSchema>

/** A requested snapshot: the request is in the row `snapshotId`. */
const snapshotJobSchema = z.strictObject({ projectId: idSchema, snapshotId: idSchema, replyTo: replyToSchema })
export type SnapshotJob = z.infer<typeof snapshotJobSchema>

export const assembleJobSchema = z.union([contextJobSchema, snapshotJobSchema])
export type AssembleJob = z.infer<typeof assembleJobSchema>
