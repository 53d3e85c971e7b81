import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { foreignNameSchema } from '../primitives/names.js'

/** Schemas that get a name of their own in the OpenAPI document. */
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

/** `true` or `false`, in a query. */
export const flagQuerySchema = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((text) => text === 'true')
  .pipe(z.boolean())

export const eventNumberSchema = wholeNumberSchema.pipe(z.int().min(0))

/** The `nextCursor` of the page before. What it may be is the list's own affair. */
export const cursorQuerySchema = foreignNameSchema(limits.cursorCharactersMax).optional()

/** A page of a list by name. */
export const pageQuerySchema = z.strictObject({ limit: limitQuerySchema, cursor: cursorQuerySchema })

export const orderedPageQuerySchema = pageQuerySchema.extend({
  order: z.enum(['asc', 'desc'], { error: 'must be asc or desc' }).optional(),
})

export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    /** What the next page is asked for with, as `cursor`; null on the last. */
    nextCursor: z.string().nullable(),
  })
}

export const isoTimeSchema = z.iso.datetime()
export const jsonRecordSchema = z.record(z.string(), z.unknown())

/** The rule that a list in a request's body breaks when it is too long. */
export const tooMany = (what: string) => `must have at most ${limits.httpListItemsMax} ${what}`
