import { z } from 'zod'
import { toolCallSchema } from '../messages/messages.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { isoTimeSchema, named, pageQuerySchema, pageSchema } from './common.js'

/** The id of a summary: that of a compaction, or the hash of a part. */
const summaryIdSchema = z.string().regex(/^[0-9a-f-]{16,64}$/, 'must be the id of a summary, as the list shows it')

export const summaryParamsSchema = z.strictObject({ thread: nameSchema, summary: summaryIdSchema })
export const summariesQuerySchema = pageQuerySchema

const placeSchema = z.object({ messageId: idSchema, seq: z.int(), reference: z.string(), at: isoTimeSchema })

export const summaryNodeSchema = z.object({
  id: summaryIdSchema,
  /** `whole`: the summary that contexts show; `part`: made from summaries; `leaf`: made from messages. */
  kind: z.enum(['whole', 'part', 'leaf']),
  /** The summary that it is a part of, the first if there are several; null for the whole. */
  parent: summaryIdSchema.nullable(),
  /** The summaries that it was made from, oldest first; empty if it was made from messages alone. */
  children: z.array(summaryIdSchema),
  /** The text; null for a part whose summary is not stored. */
  summary: z.string().nullable(),
  summarizer: z.string().nullable(),
  /** The contexts that show it; null for a part. */
  lane: z
    .object({
      strategy: z.string(),
      limitTokens: z.int(),
      /** Whether the settings of the thread lead to it; otherwise requests with a budget, model or strategy of their own do. */
      isOwn: z.boolean(),
    })
    .nullable(),
  /** The first and the last message that it covers. */
  from: placeSchema.nullable(),
  to: placeSchema.nullable(),
})
export type SummaryNode = OutputOf<typeof summaryNodeSchema>
export const summaryPageSchema = named('SummaryPage', pageSchema(summaryNodeSchema))

export const summarizedMessageSchema = placeSchema.extend({
  role: z.string(),
  content: z.string(),
  toolCalls: z.array(toolCallSchema).optional(),
  toolName: z.string().optional(),
  tokens: z.int(),
})
/** A message that a summary covers, as it was stored. */
export type SummarizedMessage = OutputOf<typeof summarizedMessageSchema>
export const summarizedPageSchema = named('SummarizedPage', pageSchema(summarizedMessageSchema))
