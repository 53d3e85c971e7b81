import { foreignNameSchema, type JsonObject, sentObjectSchema, wording } from '@heddle/contracts'
import { z } from 'zod'

/*
 * Common to the formats of all providers. Shapes only check: readers use the original object, so that unknown fields
 * are kept. A fault is named by its path in the provider's own format.
 */

/** An id of a call, or a name of a tool, as messages store them. */
export const callNameSchema = foreignNameSchema(512)

export const modelSchema = foreignNameSchema(200)

/** An entry of an append, copied, with a shape chosen by its value. */
export function entrySchema(choose: (entry: JsonObject) => z.ZodType) {
  return sentObjectSchema.superRefine((entry, context) => forward(choose(entry), entry, context))
}

/** A field with a shape chosen by its value: a union would not report the path within it. */
function byValue(choose: (value: unknown) => z.ZodType) {
  return z.unknown().superRefine((value, context) => forward(choose(value), value, context))
}

export function textOrParts(part: z.ZodType, rule = 'must be a text or a list of parts') {
  const list = z.array(part, { error: rule })
  return byValue((value) => (typeof value === 'string' ? z.unknown() : list))
}

/** A part of a content; those whose text is read must have one. */
export function partSchema(textTypes: ReadonlySet<string>, others: Shapes = {}) {
  const named = z.looseObject({ type: z.string().min(1, 'must not be empty') })
  const text = named.extend({ text: z.string() })
  return byValue((value) => {
    const type = (value as { type?: unknown } | null)?.type
    if (typeof type !== 'string') return named
    return textTypes.has(type) ? text : (shapeOf(others, type) ?? named)
  })
}

export type Shapes = Readonly<Record<string, z.ZodType>>

/**
 * Parts of another format, which are refused: kept as unknown parts, their calls and results would be lost silently.
 */
export function foreignParts(...types: string[]): Shapes {
  const foreign = z.custom(() => false, 'is not part of this format: append it in its original format')
  return Object.fromEntries(types.map((type) => [type, foreign]))
}

/** The shape of that name; names are external, so only own properties count. */
export function shapeOf(shapes: Shapes, name: unknown): z.ZodType | undefined {
  return typeof name === 'string' && Object.hasOwn(shapes, name) ? shapes[name] : undefined
}

function forward(shape: z.ZodType, value: unknown, context: z.RefinementCtx): void {
  const result = shape.safeParse(value, { error: wording })
  for (const issue of result.error?.issues ?? []) {
    const { path, message } = issue
    const at = { path, message, input: value }
    // A text in a wrong place must not be repeated, and a text that is too long has a code of its own.
    if (issue.code === 'invalid_type') context.addIssue({ ...at, code: issue.code, expected: issue.expected })
    else if (issue.code === 'too_big' && issue.origin === 'string')
      context.addIssue({ ...at, code: issue.code, origin: issue.origin, maximum: issue.maximum })
    else context.addIssue({ ...at, code: 'custom' })
  }
}
