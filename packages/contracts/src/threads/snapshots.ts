import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { foreignNameSchema, idSchema, nameSchema } from '../primitives/names.js'

export const snapshotRequestSchema = z.strictObject({
  agent: nameSchema,
  /** What the window was saved for. */
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
  /** When it was asked for. */
  timestamp: isoTimeSchema,
  description: z.string().nullable(),
  summary: z.string(),
  /** Why there is no summary, where the summarizer failed. */
  summaryError: z.string().nullable(),
  messageCount: z.int(),
  threadCount: z.int(),
  /** Null where the window showed all. */
  windowStart: isoTimeSchema.nullable(),
  windowEnd: isoTimeSchema,
  /** Whether a file of that name stands beside the row. */
  store: z.enum(['files', 'postgres']),
  fileName: z.string(),
})
export type Snapshot = z.infer<typeof snapshotSchema>

/** What came of bringing a snapshot back. */
export const restoredSchema = z.object({
  id: idSchema,
  agent: z.string(),
  /** Messages of the snapshot. */
  messages: z.int(),
  /** Those that the window shows again: each by a mark that points at the message, which is stored once. */
  restored: z.int(),
  /** Those that the window shows anyway: where they were first, or since an earlier restore. */
  present: z.int(),
  /** Those that were erased since the window was saved, with their threads: they cannot be brought back. */
  erased: z.int(),
  threads: z.array(z.string()),
})
export type Restored = z.infer<typeof restoredSchema>
