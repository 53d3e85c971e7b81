import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { foreignNameSchema } from '../primitives/names.js'

/** Schemas that are named in the OpenAPI document. */
export const httpSchemas = z.registry<{ id: string; description?: string }>()

export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  httpSchemas.add(schema, { id })
  return schema
}

/** A number in a query. */
export const wholeNumberSchema = z
  .string()
  .regex(/^\d{1,16}$/, 'must be a whole number')
  .transform(Number)

export const limitQuerySchema = wholeNumberSchema
  .pipe(z.int().min(1, 'must be at least 1').max(limits.pageItemsMax, `must be at most ${limits.pageItemsMax}`))
  .optional()

export const flagQuerySchema = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((text) => text === 'true')
  .pipe(z.boolean())

export const eventNumberSchema = wholeNumberSchema.pipe(z.int().min(0))

/** The `nextCursor` of the previous page. Its format depends on the list. */
export const cursorQuerySchema = foreignNameSchema(limits.cursorCharactersMax).optional()

/** A page of a list ordered by name. */
export const pageQuerySchema = z.strictObject({ limit: limitQuerySchema, cursor: cursorQuerySchema })

export const orderedPageQuerySchema = pageQuerySchema.extend({
  order: z.enum(['asc', 'desc'], { error: 'must be asc or desc' }).optional(),
})

export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    /** The `cursor` for the next page; null on the last. */
    nextCursor: z.string().nullable(),
  })
}

export const isoTimeSchema = z.iso.datetime()
export const jsonRecordSchema = z.record(z.string(), z.unknown())

/** The rule for a list in a request's body that is too long. */
export const tooMany = (what: string) => `must have at most ${limits.httpListItemsMax} ${what}`
