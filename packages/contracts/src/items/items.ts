import { z } from 'zod'
import { validationError } from '../errors.js'
import { jsonObjectSchema } from '../primitives/json.js'
import { limits } from '../primitives/limits.js'
import { nameSchema } from '../primitives/names.js'

export const itemTypes = ['rule', 'reference', 'tool'] as const
export type ItemType = (typeof itemTypes)[number]
export const itemTypeSchema = z.enum(itemTypes, { error: `must be one of ${itemTypes.join(', ')}` })

/**
 * How an item is included in contexts (docs/items.md): in each new thread, by hand, or selected by meaning for a
 * request.
 */
export const includeModes = ['always', 'manual', 'agent'] as const
export type IncludeMode = (typeof includeModes)[number]
export const includeModeSchema = z.enum(includeModes, { error: `must be one of ${includeModes.join(', ')}` })

/** The name of an item. References to items are names, which are resolved when they are used. */
export interface ItemKey {
  readonly type: ItemType
  readonly name: string
  /** The MCP server of a tool; absent for rules and references. */
  readonly serverName?: string | undefined
}

const keyShape = { type: itemTypeSchema, name: nameSchema, serverName: nameSchema.optional() }

export const itemKeySchema = z.strictObject(keyShape)

export const priorityLevelMax = 999

export const itemBodySchema = z.strictObject({
  description: z.string().max(limits.itemDescriptionCharactersMax).nullable().optional(),
  /** Text of a rule or a reference; absent for a tool. */
  text: z.string().max(limits.documentCharactersMax).optional(),
  /** Input schema of a tool, as its server sent it. */
  inputSchema: jsonObjectSchema.nullable().optional(),
  /** Null: `always`, or for a tool the mode of its server. */
  include: includeModeSchema.nullable().optional(),
  /** Rules and references with lower levels come first, those without one last (docs/items.md). */
  priorityLevel: z.int().min(0).max(priorityLevelMax, `must be at most ${priorityLevelMax}`).nullable().optional(),
})
export type ItemBody = z.input<typeof itemBodySchema>

export const newItemSchema = itemBodySchema.extend(keyShape)
export type NewItem = z.input<typeof newItemSchema>

/** @throws PermanentError `VALIDATION_ERROR` if the fields do not match the type */
export function checkItem({
  type,
  serverName,
  text,
  inputSchema,
  priorityLevel,
}: z.output<typeof newItemSchema>): void {
  checkItemKey({ type, serverName })
  if (type === 'tool') {
    if (text) throw validationError('text', 'a tool has a description and no text', text)
    if (priorityLevel != null)
      throw validationError('priorityLevel', 'only rules and references have one', priorityLevel)
  } else if (inputSchema) {
    throw validationError('inputSchema', 'only a tool has one', inputSchema)
  }
}

/** @throws PermanentError `VALIDATION_ERROR` if a tool names no server, or another item names one */
export function checkItemKey({ type, serverName }: { type: ItemType; serverName?: string | undefined }): void {
  if (type === 'tool' && serverName === undefined)
    throw validationError('serverName', 'a tool names its server', undefined, 'Name the MCP server of the tool.')
  if (type !== 'tool' && serverName !== undefined)
    throw validationError('serverName', 'only a tool has a server', serverName)
}

/** A tool in the list of an MCP server, as a sync receives it. */
export const serverToolSchema = z.object({
  name: nameSchema,
  description: z.string().max(limits.itemDescriptionCharactersMax).nullable().optional(),
  inputSchema: jsonObjectSchema.nullable().optional(),
})
export type ServerTool = z.input<typeof serverToolSchema>

export const serverBodySchema = z.strictObject({ include: includeModeSchema })

/** How much a request selects by meaning; each field overrides the preset and the settings. */
export const selectionShape = {
  preset: z.enum(['aggressive', 'normal', 'conservative'], { error: 'must be aggressive, normal or conservative' }),
  /** Chunks considered before they are grouped by item. */
  topK: z.int().min(1).max(1_000),
  /** Items after grouping. */
  topN: z.int().min(0).max(1_000),
  /** Items with at least this score are included, even beyond `topN`. */
  includeScore: z.number().min(0).max(1),
  /** Items below it are unrelated to the request and never included. */
  minScore: z.number().min(0).max(1),
} as const
/** The parameters of items of one type, which are then selected apart from the others. */
const selectionOfTypeSchema = z.strictObject({
  /** Whether items of the type are selected at all. */
  enabled: z.boolean().optional(),
  topK: selectionShape.topK.optional(),
  topN: selectionShape.topN.optional(),
  includeScore: selectionShape.includeScore.optional(),
  minScore: selectionShape.minScore.optional(),
})
export type SelectionOfType = z.infer<typeof selectionOfTypeSchema>

/** Settings of selections beside {@link selectionShape}. */
export const selectionSettingsShape = {
  /** Whether items are selected at all; `false` leaves a context with the items of its thread. */
  enabled: z.boolean(),
  /** How much shared words raise the score of an item beyond that of the vectors; 0 leaves the vectors alone. */
  wordShare: z.number().min(0).max(1),
  /** Scales `topN` and `topK` to the tokens for selected items: up to four times, down to one item. */
  fitBudget: z.boolean(),
  /** Items of these types have parameters of their own; without any they are selected together. */
  types: z.strictObject({
    rule: selectionOfTypeSchema.optional(),
    reference: selectionOfTypeSchema.optional(),
    tool: selectionOfTypeSchema.optional(),
  }),
} as const
export type SelectionTypes = z.infer<typeof selectionSettingsShape.types>

export const selectionSchema = z.strictObject(selectionShape).partial()
export type SelectionOptions = z.infer<typeof selectionSchema>
export type SelectionPreset = z.infer<typeof selectionShape.preset>

/** The complete parameters of a selection. */
export interface SelectionLimits {
  readonly topK: number
  readonly topN: number
  readonly includeScore: number
  readonly minScore: number
}

/** The parameters of the presets (docs/items.md#selection). */
export const selectionPresets: Readonly<Record<SelectionPreset, SelectionLimits>> = {
  aggressive: { topK: 50, topN: 12, includeScore: 0.5, minScore: 0.1 },
  normal: { topK: 20, topN: 5, includeScore: 0.7, minScore: 0.2 },
  conservative: { topK: 10, topN: 2, includeScore: 0.85, minScore: 0.4 },
}

/** An item in the context of a request (docs/items.md#what-a-context-says). */
export const requestItemSchema = z.object({
  type: itemTypeSchema,
  name: z.string(),
  serverName: z.string().optional(),
  includeMode: includeModeSchema,
  similarityScore: z.number().optional(),
})
export type RequestItem = z.infer<typeof requestItemSchema>

/** An item in a receipt: the version that was shown, or would have been. */
export const includedItemSchema = requestItemSchema.extend({ itemId: z.string(), version: z.int() })
