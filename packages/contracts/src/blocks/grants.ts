import { z } from 'zod'
import { isoTimeSchema, named, pageSchema } from '../http/common.js'
import { nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { blockLabelSchema } from './labels.js'

/** The rights of an agent that a block is shared with: its contexts show it, and with `write` it makes the changes of models. */
export const blockGrantModes = ['read', 'write'] as const
export const blockGrantModeSchema = z.enum(blockGrantModes, { error: `must be one of ${blockGrantModes.join(', ')}` })
export type BlockGrantMode = z.infer<typeof blockGrantModeSchema>

/** Blocks of the project are in all contexts already, and those of a thread are about it alone. */
const scopeSchema = z.literal('agent', { error: 'must be agent: blocks of agents alone can be shared' })

export const blockGrantsParamsSchema = z.strictObject({ scope: scopeSchema, label: blockLabelSchema })
/** Names a block of an agent by its owner. */
export type AgentBlockKey = z.infer<typeof blockGrantsParamsSchema> & { readonly owner?: string | undefined }

export const blockGrantParamsSchema = blockGrantsParamsSchema.extend({
  /** The agent that the block is shared with. */
  agent: nameSchema,
})
export const blockGrantBodySchema = named('BlockGrantBody', z.strictObject({ mode: blockGrantModeSchema }))

export const blockGrantSchema = named(
  'BlockGrant',
  z.object({
    /** The agent whose block is shared. */
    owner: z.string(),
    label: z.string(),
    /** The agent that it is shared with. */
    to: z.string(),
    /** Null for a revoked grant. */
    mode: blockGrantModeSchema.nullable(),
    changedAt: isoTimeSchema,
  }),
)
export type BlockGrant = OutputOf<typeof blockGrantSchema>
export const blockGrantPageSchema = named('BlockGrantPage', pageSchema(blockGrantSchema))

/** The grant by which an agent sees a block of another one. */
export const sharedBlockSchema = z.object({
  /** The agent that shares it. */
  by: z.string(),
  mode: blockGrantModeSchema,
})
