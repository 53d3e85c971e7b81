import { z } from 'zod'
import { atomKinds } from '../primitives/atom-kinds.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { cursorQuerySchema, limitQuerySchema, named } from './common.js'

export const lossParamsSchema = z.strictObject({ thread: nameSchema, compaction: idSchema })

const kindSchema = z.enum(atomKinds, { error: `must be one of ${atomKinds.join(', ')}` })

export const lossQuerySchema = z.strictObject({
  /** Only lost details of this kind are listed; counts are of all kinds. */
  kind: kindSchema.optional(),
  /** Lost details that are listed. Default 100. */
  limit: limitQuerySchema,
})

export const lossRequestSchema = lossParamsSchema.extend({
  kind: kindSchema.optional(),
  limit: z.int().min(1).max(limits.pageItemsMax).optional(),
})
export type LossOptions = z.input<typeof lossRequestSchema>

const fateCountsSchema = z.object({
  total: z.int(),
  summary: z.int(),
  pinned: z.int(),
  raw: z.int(),
  ledger: z.int(),
  recall: z.int(),
  lost: z.int(),
})

export const lossReportSchema = named(
  'LossReport',
  z.object({
    /** Id of the compaction. */
    id: idSchema,
    generation: z.int(),
    status: z.enum(['pending', 'passed', 'ready', 'void']),
    strategy: z.string(),
    summarizer: z.string().nullable(),
    summaryTokens: z.int(),
    coveredCount: z.int(),
    coveredTokens: z.int(),
    /** Covered messages that were read. */
    messagesRead: z.int(),
    /** Whether all covered messages were read and all their details counted; otherwise the counts are of the first ones. */
    isComplete: z.boolean(),
    totals: fateCountsSchema,
    /** The kinds with details, in the order of their importance. */
    kinds: z.array(fateCountsSchema.extend({ kind: z.enum(atomKinds) })),
    /** Lost details by the importance of their kinds, each kind in the order of the conversation. */
    lost: z.array(
      z.object({
        kind: z.enum(atomKinds),
        text: z.string(),
        /** Messages that have it, the latest ones first, to recall or to pin. */
        references: z.array(z.string()),
      }),
    ),
  }),
)
export type LossReport = OutputOf<typeof lossReportSchema>

export const ledgerQuerySchema = z.strictObject({
  /** Only details of this kind. */
  kind: kindSchema.optional(),
  limit: limitQuerySchema,
  cursor: cursorQuerySchema,
})

const ledgerLineSchema = z.object({
  /** Its number in the text behind the reference, which is the same with and without a kind. */
  line: z.int(),
  kind: z.enum(atomKinds),
  /** The last state of a file, a command or an error; null for other kinds. */
  state: z.enum(['read', 'written', 'deleted', 'passed', 'failed', 'open', 'solved']).nullable(),
  text: z.string(),
  /** Messages that have it, the latest ones first. */
  references: z.array(z.string()),
})

export const ledgerSchema = named(
  'Ledger',
  z.object({
    thread: z.string(),
    /** Recall it for the text, a line for each detail; null without messages. */
    ref: z.string().nullable(),
    messagesRead: z.int(),
    /** Whether all messages since the last clear were read, and all their details listed. */
    isComplete: z.boolean(),
    items: z.array(ledgerLineSchema),
    nextCursor: z.string().nullable(),
  }),
)
export type Ledger = OutputOf<typeof ledgerSchema>
