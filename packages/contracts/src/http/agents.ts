import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema, timeSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { partialSettingsSchema } from '../settings/settings.js'
import { isoTimeSchema, named, pageSchema } from './common.js'

export const agentParamsSchema = z.strictObject({ agent: nameSchema })

/** Of the database's numbers. */
const VERSION_MAX = 2_147_483_647

const docSchema = z.strictObject({ name: nameSchema, text: z.string().max(limits.documentCharactersMax) })

/** An agent's prompt, docs and settings. What is left out stays as it is. */
export const agentBodySchema = named(
  'AgentBody',
  z.strictObject({
    systemPrompt: z.string().max(limits.documentCharactersMax).optional(),
    docs: z.array(docSchema).max(100).optional(),
    settings: partialSettingsSchema.optional(),
    /**
     * The version that this is a change of, 0 for an agent that is yet to be made: where it has another one meanwhile, that
     * is a conflict. Without it, whoever comes last wins.
     */
    ifVersion: z.int().min(0).max(VERSION_MAX).optional(),
  }),
)
export type AgentBody = z.infer<typeof agentBodySchema>

export const agentSchema = named(
  'Agent',
  z.object({
    agentId: idSchema,
    name: z.string(),
    /** Each change is a version of its own. */
    version: z.int(),
    systemPrompt: z.string(),
    docs: z.array(z.object({ name: z.string(), text: z.string() })),
    settings: partialSettingsSchema,
    /** How often the agent was cleared. */
    clearEpoch: z.int(),
    lastClearedAt: isoTimeSchema.nullable(),
    createdAt: isoTimeSchema,
  }),
)
export type Agent = z.infer<typeof agentSchema>

export const agentSummarySchema = named(
  'AgentSummary',
  z.object({
    agentId: idSchema,
    name: z.string(),
    version: z.int(),
    threads: z.int(),
    messages: z.int(),
    tokensEstimate: z.int(),
    lastMessageAt: isoTimeSchema.nullable(),
    lastClearedAt: isoTimeSchema.nullable(),
    createdAt: isoTimeSchema,
  }),
)
/** An agent of a list, with what its threads add up to. */
export type AgentSummary = OutputOf<typeof agentSummarySchema>
export const agentPageSchema = named('AgentPage', pageSchema(agentSummarySchema))

export const clearBodySchema = named(
  'ClearBody',
  z.strictObject({
    /** When the agent was cleared, by the caller's clock. Default now. */
    clearedAt: timeSchema.optional(),
  }),
)

export const clearedSchema = named(
  'Cleared',
  z.object({
    agent: z.string(),
    agentId: idSchema,
    /** The time from which messages are shown again: that of the agent's latest clear. */
    clearedAt: isoTimeSchema,
    /** How often the agent was cleared. */
    epoch: z.int(),
    /** Threads that have messages which the clear hides. */
    threads: z.int(),
  }),
)
export type ClearResult = OutputOf<typeof clearedSchema>
