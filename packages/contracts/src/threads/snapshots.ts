import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { foreignNameSchema, idSchema, nameSchema } from '../primitives/names.js'

export const snapshotRequestSchema = z.strictObject({
  agent: nameSchema,
  /** Why the window was saved. */
  description: foreignNameSchema(limits.snapshotDescriptionCharactersMax)
    .refine((text) => text.trim() !== '', 'must not be empty')
    .optional(),
})
export type SnapshotRequest = z.infer<typeof snapshotRequestSchema>

const isoTimeSchema = z.iso.datetime()

/** A saved window, without its messages. */
export const snapshotSchema = z.object({
  id: idSchema,
  agent: z.string(),
  /** When it was requested. */
  timestamp: isoTimeSchema,
  description: z.string().nullable(),
  summary: z.string(),
  /** Why the summarizer failed: the snapshot has no summary, or one that was made without a model. */
  summaryError: z.string().nullable(),
  messageCount: z.int(),
  threadCount: z.int(),
  /** Null if the window showed all messages. */
  windowStart: isoTimeSchema.nullable(),
  windowEnd: isoTimeSchema,
  /** Whether a file of that name exists beside the row. */
  store: z.enum(['files', 'postgres']),
  fileName: z.string(),
})
export type Snapshot = z.infer<typeof snapshotSchema>

/** The result of restoring a snapshot. */
export const restoredSchema = z.object({
  id: idSchema,
  agent: z.string(),
  /** Messages of the snapshot. */
  messages: z.int(),
  /** Messages that the window shows again: each by a marker that points at the message, which is stored once. */
  restored: z.int(),
  /** Messages that the window showed already: at their original position, or since an earlier restore. */
  present: z.int(),
  /** Messages erased with their threads since the window was saved, which cannot be restored. */
  erased: z.int(),
  threads: z.array(z.string()),
})
export type Restored = z.infer<typeof restoredSchema>
