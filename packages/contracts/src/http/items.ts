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

/** The MCP server of a tool; may be left out where one server alone has a tool of the name. */
export const itemQuerySchema = z.strictObject({ serverName: nameSchema.optional() })
export const itemVersionQuerySchema = itemQuerySchema.extend({
  /** An older version, as a receipt names it. */
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
  /** Each change is a version of its own; receipts name it. */
  version: z.int(),
  description: z.string().nullable(),
  text: z.string(),
  inputSchema: jsonObjectSchema.nullable(),
  /** What the item itself says; null leaves it to a tool's server, and else means `always`. */
  include: includeModeSchema.nullable(),
  priorityLevel: z.int().nullable(),
  updatedAt: isoTimeSchema,
}

export const itemSchema = named(
  'Item',
  z.object({
    ...itemShape,
    /** The mode in force. */
    includeMode: z.enum(includeModes),
    /** Only in an old version: whether it is the one with which the item was taken away. */
    erased: z.boolean(),
  }),
)
/** A rule, a reference or a tool of an agent, in one version. */
export type AgentItem = OutputOf<typeof itemSchema>
/**
 * Threads that began before, and get what was put only when it is added to them by hand: 20 names at most, the newest first.
 * Empty unless the mode in force is `always`.
 */
const threadsWithout = z.array(z.string())
export const putItemSchema = named('PutItem', itemSchema.extend({ threadsWithout }))
export type PutItem = OutputOf<typeof putItemSchema>
export type ThreadsWithout = Pick<PutItem, 'threadsWithout'>
export const itemPageSchema = named('ItemPage', pageSchema(itemSchema))

/** An item as a thread holds it. */
export const threadItemSchema = named(
  'ThreadItem',
  z.object({
    ...itemShape,
    /** How it came to the thread: when it started, or by hand (docs/items.md). */
    includeMode: z.enum(['always', 'manual']),
  }),
)
/** Every context of the thread shows it, as it is by then. */
export type ThreadItemEntry = OutputOf<typeof threadItemSchema>
export const threadItemsSchema = named('ThreadItems', pageSchema(threadItemSchema))
export const threadItemAddedSchema = named('ThreadItemAdded', z.object({ added: z.boolean() }))
export const threadItemRemovedSchema = named('ThreadItemRemoved', z.object({ removed: z.literal(true) }))

export const serverParamsSchema = z.strictObject({ agent: nameSchema, server: nameSchema })
export const toolServerBodySchema = named('ToolServerBody', serverBodySchema)
export const toolServerSchema = named('ToolServer', z.object({ serverName: z.string(), include: includeModeSchema }))
export type ToolServer = OutputOf<typeof toolServerSchema>

/** What an MCP server lists, all of it: tools that are not in it are taken away. */
export const toolsBodySchema = named(
  'ToolsBody',
  z.strictObject({
    tools: z.array(serverToolSchema).max(limits.toolsPerServerMax, `must be at most ${limits.toolsPerServerMax}`),
    /** The mode of tools that have none of their own, from now on. */
    include: includeModeSchema.optional(),
  }),
)
export const syncedToolsSchema = named(
  'SyncedTools',
  z.object({
    serverName: z.string(),
    added: z.array(z.string()),
    changed: z.array(z.string()),
    /** Those that the server has no longer. */
    removed: z.array(z.string()),
    unchanged: z.int(),
    threadsWithout,
  }),
)
/** The changes that a sync made to the tools of a server. */
export type SyncedTools = OutputOf<typeof syncedToolsSchema>

/** What a selection is tried out with; figures that are left out are those of the agent. */
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
    /** The mode in force; null where the item was taken away. */
    includeMode: z.enum(includeModes).nullable(),
    /** Contexts that showed it. */
    contexts: count,
    /** The same by how it came into them. */
    byMode: z.object({ always: count, manual: count, agent: count }),
    /** Contexts that showed it and that a reply answered. */
    answered: count,
    /** Of these, those whose reply used it. */
    used: count,
    /** Mean of the contexts that selected it by its meaning; null where none did. */
    meanScore: z.number().nullable(),
    /** Of all contexts that showed it. */
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
    /** When the oldest of the contexts was built; null where there is none. */
    from: isoTimeSchema.nullable(),
    /** Contexts that showed items. */
    contexts: count,
    answered: count,
    threads: count,
    /** Whether there are older ones that were not looked at. */
    isCut: z.boolean(),
    /** By tokens, the costliest first. */
    items: z.array(itemStatsEntrySchema),
  }),
)
export type ItemStats = z.infer<typeof itemStatsSchema>
export type ItemStatsEntry = z.infer<typeof itemStatsEntrySchema>
