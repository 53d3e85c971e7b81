import { z } from 'zod'
import {
  includeModeSchema,
  includeModes,
  itemKeySchema,
  itemTypeSchema,
  requestItemSchema,
  selectionShape,
  serverBodySchema,
  serverToolSchema,
} from '../items/items.js'
import { jsonObjectSchema } from '../primitives/json.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { momentSchema } from '../recall/archive.js'
import { isoTimeSchema, named, pageQuerySchema, pageSchema } from './common.js'

export const itemParamsSchema = z.strictObject({ agent: nameSchema, type: itemTypeSchema, name: nameSchema })
export const threadItemParamsSchema = z.strictObject({ thread: nameSchema, type: itemTypeSchema, name: nameSchema })

/** The MCP server of a tool; optional if only one server has a tool of that name. */
export const itemQuerySchema = z.strictObject({ serverName: nameSchema.optional() })
export const itemVersionQuerySchema = itemQuerySchema.extend({
  /** An older version, as named in a receipt. */
  version: z.coerce.number().int().min(1).optional(),
})
export const itemsQuerySchema = pageQuerySchema.extend({
  type: itemTypeSchema.optional(),
  serverName: nameSchema.optional(),
})

const itemShape = {
  type: itemTypeSchema,
  name: z.string(),
  serverName: z.string().optional(),
  itemId: idSchema,
  /** Incremented by each change; receipts contain it. */
  version: z.int(),
  description: z.string().nullable(),
  text: z.string(),
  inputSchema: jsonObjectSchema.nullable(),
  /** The item's own mode; null uses that of a tool's server, or else `always`. */
  include: includeModeSchema.nullable(),
  priorityLevel: z.int().nullable(),
  updatedAt: isoTimeSchema,
}

export const itemSchema = named(
  'Item',
  z.object({
    ...itemShape,
    /** The effective mode. */
    includeMode: z.enum(includeModes),
    /** Only for an old version: whether it is the removal of the item. */
    erased: z.boolean(),
  }),
)
/** A rule, a reference or a tool of an agent, in one version. */
export type AgentItem = OutputOf<typeof itemSchema>
/**
 * Older threads, which get the item only if it is added to them by hand: at most 20 names, newest first. Empty unless
 * the effective mode is `always`.
 */
const threadsWithout = z.array(z.string())
export const putItemSchema = named('PutItem', itemSchema.extend({ threadsWithout }))
export type PutItem = OutputOf<typeof putItemSchema>
export type ThreadsWithout = Pick<PutItem, 'threadsWithout'>
export const itemPageSchema = named('ItemPage', pageSchema(itemSchema))

export const threadItemSchema = named(
  'ThreadItem',
  z.object({
    ...itemShape,
    /** Why the thread has it: added at its start, or by hand (docs/items.md). */
    includeMode: z.enum(['always', 'manual']),
  }),
)
/** An item of a thread. Every context of the thread shows its current version. */
export type ThreadItemEntry = OutputOf<typeof threadItemSchema>
export const threadItemsSchema = named('ThreadItems', pageSchema(threadItemSchema))
export const threadItemAddedSchema = named('ThreadItemAdded', z.object({ added: z.boolean() }))
export const threadItemRemovedSchema = named('ThreadItemRemoved', z.object({ removed: z.literal(true) }))

export const serverParamsSchema = z.strictObject({ agent: nameSchema, server: nameSchema })
export const toolServerBodySchema = named('ToolServerBody', serverBodySchema)
export const toolServerSchema = named('ToolServer', z.object({ serverName: z.string(), include: includeModeSchema }))
export type ToolServer = OutputOf<typeof toolServerSchema>

/** The complete tool list of an MCP server: tools that are not in it are removed. */
export const toolsBodySchema = named(
  'ToolsBody',
  z.strictObject({
    tools: z.array(serverToolSchema).max(limits.toolsPerServerMax, `must be at most ${limits.toolsPerServerMax}`),
    /** The mode of tools without a mode of their own, from now on. */
    include: includeModeSchema.optional(),
  }),
)
export const syncedToolsSchema = named(
  'SyncedTools',
  z.object({
    serverName: z.string(),
    added: z.array(z.string()),
    changed: z.array(z.string()),
    /** Tools that the server no longer has. */
    removed: z.array(z.string()),
    unchanged: z.int(),
    threadsWithout,
  }),
)
/** The changes that a sync made to the tools of a server. */
export type SyncedTools = OutputOf<typeof syncedToolsSchema>

/** Parameters of a trial selection; missing figures are taken from the agent. */
export const selectionBodySchema = named(
  'SelectionBody',
  z.strictObject({
    query: z.string().min(1, 'must not be empty').max(limits.messageCharactersMax),
    items: z.array(itemKeySchema).max(limits.itemsPerAgentMax),
    options: z.strictObject(selectionShape).partial().optional(),
  }),
)
export const selectedItemsSchema = named('SelectedItems', pageSchema(requestItemSchema))

export const itemStatsQuerySchema = z.strictObject({
  /** Contexts built at or after this moment. */
  since: momentSchema.optional(),
})

const count = z.int().min(0)

const itemStatsEntrySchema = named(
  'ItemStatsEntry',
  z.object({
    type: itemTypeSchema,
    name: z.string(),
    serverName: z.string().optional(),
    itemId: idSchema,
    /** The effective mode; null if the item was removed. */
    includeMode: z.enum(includeModes).nullable(),
    /** Contexts that showed it. */
    contexts: count,
    /** The same by include mode. */
    byMode: z.object({ always: count, manual: count, agent: count }),
    /** Contexts that showed it and were answered by a reply. */
    answered: count,
    /** Those whose reply used it. */
    used: count,
    /** Mean score over the contexts that selected it by meaning; null without such contexts. */
    meanScore: z.number().nullable(),
    /** Tokens over all contexts that showed it. */
    tokens: count,
    meanTokens: z.number(),
    lastShownAt: isoTimeSchema.nullable(),
    lastUsedAt: isoTimeSchema.nullable(),
    suggestion: z.object({ action: z.enum(['drop', ...includeModes]), reason: z.string() }).nullable(),
  }),
)
export const itemStatsSchema = named(
  'ItemStats',
  z.object({
    agent: z.string(),
    /** When the oldest of the contexts was built; null without contexts. */
    from: isoTimeSchema.nullable(),
    /** Contexts that showed items. */
    contexts: count,
    answered: count,
    threads: count,
    /** Whether older contexts were not counted. */
    isCut: z.boolean(),
    /** By tokens, most first. */
    items: z.array(itemStatsEntrySchema),
  }),
)
export type ItemStats = z.infer<typeof itemStatsSchema>
export type ItemStatsEntry = z.infer<typeof itemStatsEntrySchema>
