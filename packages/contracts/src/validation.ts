import type { z } from 'zod'
import { describeReceived, PermanentError } from './errors.js'

/**
 * Parses what came from outside.
 *
 * @param subject what is parsed, for the message: `context request`
 * @throws PermanentError `VALIDATION_ERROR` that names the first field at fault, its rule, and what was received
 */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, subject: string): z.infer<Schema> {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const path = issue?.path.map(String) ?? []
  const field = path.join('.') || subject
  const received = describeReceived(valueAt(value, issue?.path ?? []))
  const tooLarge = issue?.code === 'too_big' && issue.origin === 'string'
  throw new PermanentError(
    tooLarge ? 'PAYLOAD_TOO_LARGE' : 'VALIDATION_ERROR',
    `${subject}: ${path.length > 0 ? `${field}: ` : ''}${issue?.message ?? 'is not valid'} (received ${received})`,
    { field, received },
  )
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value
  for (const key of path) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<PropertyKey, unknown>)[key]
  }
  return at
}
