import type { z } from 'zod'

const CHARACTERS_MAX = 80

/** A short description of a bad value that shows no more of it than is needed to find it. */
export function describeReceived(value: unknown): string {
  if (typeof value === 'string' && value.length <= CHARACTERS_MAX) return JSON.stringify(value)
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : describeUnshown(value)
}

/** The kind and size of a value, without its contents. */
export function describeUnshown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return `a text of ${value.length} characters`
  if (Array.isArray(value)) return `a list of ${value.length}`
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Fields with texts of people and agents: errors never repeat them, whatever is wrong. */
const CONTENT_FIELDS = new Set(
  [
    'arguments content data description docs environment goal input inputSchema message metadata output prompt query raw search',
    'signature status summary systemPrompt text texts thinking title toolCalls usage',
  ]
    .join(' ')
    .split(' '),
)

/** A description of a value in an error: enum values, numbers, names, ids and times are shown, contents are not. */
export function describeAtPlace(path: readonly PropertyKey[], value: unknown, issue?: z.core.$ZodIssue): string {
  if (path.some((key) => CONTENT_FIELDS.has(String(key)))) return describeUnshown(value)
  // A text in place of an object or a list is most likely its intended content.
  const isMisplaced =
    issue?.code === 'invalid_union' ||
    (issue?.code === 'invalid_type' && ['object', 'array', 'record', 'string'].includes(issue.expected))
  return isMisplaced && typeof value === 'string' ? describeUnshown(value) : describeReceived(value)
}

const KEY = /^[\w$.:/ -]{1,64}$/

/** A path in errors; a key invented by the caller that cannot be in a schema is not repeated. */
export function fieldAt(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (KEY.test(String(key)) ? String(key) : `a key of ${String(key).length} characters`))
    .join('.')
}
