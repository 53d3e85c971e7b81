import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import type { OutputOf } from '../primitives/output-of.js'
import { cursorQuerySchema, isoTimeSchema, named, wholeNumberSchema } from './common.js'

/** Kinds of messages that are of little use to an agent. */
export const memoryFindings = ['duplicate', 'near-duplicate', 'loop', 'stale', 'transient', 'secret'] as const
export type MemoryFinding = (typeof memoryFindings)[number]

export const memoryAuditQuerySchema = z.strictObject({
  /** Messages that are read, the newest first; default 1,000. */
  limit: wholeNumberSchema
    .pipe(
      z
        .int()
        .min(1, 'must be at least 1')
        .max(limits.auditedMessagesMax, `must be at most ${limits.auditedMessagesMax}`),
    )
    .optional(),
  cursor: cursorQuerySchema,
})

export const memoryAuditSchema = named(
  'MemoryAudit',
  z.object({
    agent: z.string(),
    /** Messages that were read, of all threads of the agent. */
    messages: z.int(),
    tokens: z.int(),
    threads: z.int(),
    /** The times of the oldest and of the newest of them; null without any. */
    from: isoTimeSchema.nullable(),
    to: isoTimeSchema.nullable(),
    /** Every kind, also without a message. A message may be of several. */
    findings: z.array(
      z.object({
        kind: z.enum(memoryFindings),
        messages: z.int(),
        tokens: z.int(),
        /** Of the messages that were read. */
        share: z.number(),
        /** References of some of them. */
        references: z.array(z.string()),
      }),
    ),
    /** Those of them whose contents contexts do not show whole, and which nobody recalled since. */
    archived: z.object({ messages: z.int(), neverRead: z.int(), share: z.number() }),
    /** The `cursor` for older messages; null if there are no more. */
    nextCursor: z.string().nullable(),
  }),
)
/** How much of the messages of an agent is of little use. */
export type MemoryAudit = OutputOf<typeof memoryAuditSchema>
