import { z } from 'zod'
import { includeModeSchema, includeModes, itemTypeSchema } from '../items.js'
import { jsonObjectSchema } from '../json.js'
import { idSchema, nameSchema } from '../names.js'
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
    erased: z.boolean(),
  }),
)
export const itemPageSchema = named('ItemPage', pageSchema(itemSchema))

/** An item as a thread holds it. */
export const threadItemSchema = named(
  'ThreadItem',
  z.object({ ...itemShape, includeMode: z.enum(['always', 'manual']) }),
)
export const threadItemsSchema = named('ThreadItems', pageSchema(threadItemSchema))
export const threadItemAddedSchema = named('ThreadItemAdded', z.object({ added: z.boolean() }))
export const threadItemRemovedSchema = named('ThreadItemRemoved', z.object({ removed: z.literal(true) }))
