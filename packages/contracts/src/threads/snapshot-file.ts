import { z } from 'zod'
import { roles, thinkingBlockSchema, toolCallSchema } from '../messages/messages.js'
import { jsonObjectSchema } from '../primitives/json.js'
import { idSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'

const isoTimeSchema = z.iso.datetime()

const snapshotMessageSchema = z.object({
  id: idSchema,
  thread_id: z.string(),
  role: z.enum(roles),
  content: z.string(),
  tool_calls: z.array(toolCallSchema).optional(),
  tool_call_id: z.string().optional(),
  /** When it was sent. */
  timestamp: isoTimeSchema,
  // Further fields needed to restore a message unchanged.
  thinking: z.array(thinkingBlockSchema).optional(),
  tool_name: z.string().optional(),
  is_error: z.boolean().optional(),
  model: z.string().optional(),
  pinned: z.boolean().optional(),
  source_id: z.string().optional(),
  metadata: jsonObjectSchema.optional(),
})
export type SnapshotMessage = OutputOf<typeof snapshotMessageSchema>

/** A saved window of all threads of an agent, in its file format (docs/snapshots.md#saving). */
export const snapshotFileSchema = z.object({
  session_id: idSchema,
  timestamp: isoTimeSchema,
  description: z.string().nullable(),
  summary: z.string(),
  message_count: z.int(),
  /** Null if the window shows all messages. */
  window_start: isoTimeSchema.nullable(),
  window_end: isoTimeSchema,
  messages: z.array(snapshotMessageSchema),
})
export type SnapshotFile = OutputOf<typeof snapshotFileSchema>
