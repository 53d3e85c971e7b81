import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema, timeSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { partialSettingsSchema } from '../settings/settings.js'
import { isoTimeSchema, named, pageSchema } from './common.js'

export const agentParamsSchema = z.strictObject({ agent: nameSchema })

/** Largest integer of the database column. */
const VERSION_MAX = 2_147_483_647

const docSchema = z.strictObject({ name: nameSchema, text: z.string().max(limits.documentCharactersMax) })

/** An agent's prompt, docs and settings. Missing fields are unchanged. */
export const agentBodySchema = named(
  'AgentBody',
  z.strictObject({
    systemPrompt: z.string().max(limits.documentCharactersMax).optional(),
    docs: z.array(docSchema).max(100).optional(),
    settings: partialSettingsSchema.optional(),
    /**
     * The version that this changes, 0 for an agent that does not exist yet: any other current version is a conflict.
     * Without it, the last write wins.
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
    /** Incremented by each change. */
    version: z.int(),
    systemPrompt: z.string(),
    docs: z.array(z.object({ name: z.string(), text: z.string() })),
    settings: partialSettingsSchema,
    /** Number of times the agent was cleared. */
    clearEpoch: z.int(),
    lastClearedAt: isoTimeSchema.nullable(),
    createdAt: isoTimeSchema,
  }),
)
export type Agent = z.infer<typeof agentSchema>

export const settingOriginSchema = named(
  'SettingInForce',
  z.object({
    /** `prune.keepLastN` */
    name: z.string(),
    value: z.unknown(),
    /** The source that sets it: `file` and `environment` of the deployment, `flags` of its command, or `agent`; null for a default. */
    from: z.string().nullable(),
    default: z.unknown(),
  }),
)
/** A setting in force for an agent. */
export type SettingInForce = OutputOf<typeof settingOriginSchema>
export const settingPageSchema = named('SettingPage', pageSchema(settingOriginSchema))

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
/** An agent in a list, with totals over its threads. */
export type AgentSummary = OutputOf<typeof agentSummarySchema>
export const agentPageSchema = named('AgentPage', pageSchema(agentSummarySchema))

export const clearBodySchema = named(
  'ClearBody',
  z.strictObject({
    /** When the agent was cleared, by the caller's clock. Default: now. */
    clearedAt: timeSchema.optional(),
  }),
)

export const clearedSchema = named(
  'Cleared',
  z.object({
    agent: z.string(),
    agentId: idSchema,
    /** The time from which messages are shown: that of the agent's latest clear. */
    clearedAt: isoTimeSchema,
    /** Number of times the agent was cleared. */
    epoch: z.int(),
    /** Threads with messages hidden by the clear. */
    threads: z.int(),
  }),
)
export type ClearResult = OutputOf<typeof clearedSchema>
