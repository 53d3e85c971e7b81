import { z } from 'zod'
import { blockChanges, putBlockSchema } from '../blocks/blocks.js'
import { blockLabelSchema } from '../blocks/labels.js'
import { includeModeSchema, itemBodySchema, itemTypeSchema } from '../items/items.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import { time } from './thread-export-fields.js'

/** The mode of the tools of a server without a mode of their own. */
export const toolServerRecord = z.strictObject({
  type: z.literal('toolServer'),
  name: nameSchema,
  include: includeModeSchema,
})

const itemKey = {
  itemType: itemTypeSchema,
  name: nameSchema,
  /** Empty for a rule and a reference. */
  serverName: z.union([nameSchema, z.literal('')]),
}
const item = itemBodySchema.shape

/** The current version of an agent's item; only the name of a removed one. */
export const itemRecord = z.strictObject({
  type: z.literal('item'),
  ...itemKey,
  description: item.description.unwrap(),
  text: item.text.unwrap(),
  inputSchema: item.inputSchema.unwrap(),
  include: item.include.unwrap(),
  priorityLevel: item.priorityLevel.unwrap(),
  erased: z.boolean(),
})

/** A version of an item's place in the thread. */
export const threadItemRecord = z.strictObject({
  type: z.literal('threadItem'),
  ...itemKey,
  version: z.int().min(1),
  includeMode: z.enum(['always', 'manual']),
  removed: z.boolean(),
  createdAt: time,
})

const block = putBlockSchema.shape

/** A version of a memory block of the thread. */
export const blockRecord = z.strictObject({
  type: z.literal('block'),
  label: blockLabelSchema,
  version: z.int().min(1),
  description: block.description.unwrap(),
  value: block.value.unwrap(),
  charactersMax: block.limit.unwrap(),
  readOnly: z.boolean(),
  removed: z.boolean(),
  change: z.enum(blockChanges),
  requestId: idSchema.nullable(),
  createdAt: time,
})
