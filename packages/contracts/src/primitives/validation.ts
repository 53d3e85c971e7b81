import type { z } from 'zod'
import { HeddleError, PermanentError } from '../errors.js'
import { didYouMean, nearest } from './nearest.js'
import { describeAtPlace, fieldAt } from './redact-input.js'
import { knownKeys, wording } from './zod-messages.js'

/** Objects searched for an unreadable property: the search is recursive. */
const OBJECTS_SEARCHED_MAX = 1_000

const UNREADABLE = 'a value that throws when it is read'

/**
 * Parses external input.
 *
 * @param subject what is parsed, for the message: `context request`
 * @throws PermanentError `VALIDATION_ERROR` that names the first invalid field, its rule, and the received value
 */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, subject: string): z.infer<Schema> {
  const result = tryParse(schema, value, subject)
  if (!('fault' in result)) return result.data
  const { path, message, tooLarge, issue, hint } = result.fault
  const field = fieldAt(path) || subject
  const received = describeAt(value, path, issue)
  throw new PermanentError(
    tooLarge === true ? 'PAYLOAD_TOO_LARGE' : 'VALIDATION_ERROR',
    `${subject}: ${path.length > 0 ? `${field}: ` : ''}${message} (received ${received})`,
    { field, received, hint },
  )
}

/** Reading may throw: objects of a program in this process may have throwing getters. */
function tryParse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  subject: string,
): { data: z.infer<Schema> } | { fault: Fault } {
  try {
    const known = new Map<string, readonly string[]>()
    const error: typeof wording = (issue) => {
      if (issue.code === 'unrecognized_keys') for (const key of issue.keys) known.set(key, knownKeys(issue))
      return wording(issue)
    }
    const result = schema.safeParse(value, { error })
    if (result.success) return { data: result.data }
    const issue = mistyped(result.error.issues, known) ?? result.error.issues[0]
    return { fault: issue === undefined ? { path: [], message: 'is not valid' } : faultOf(issue, known) }
  } catch (error) {
    if (error instanceof HeddleError) throw error
    const field = fieldAt(unreadablePath(value, new Set()) ?? []) || subject
    throw new PermanentError('VALIDATION_ERROR', `${subject}: ${field}: cannot be read`, {
      field,
      received: UNREADABLE,
      cause: error,
    })
  }
}

interface Fault {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly tooLarge?: boolean
  readonly issue?: z.core.$ZodIssue
  readonly hint?: string
}

/** The known keys of the object in which an unknown key was found, by that key. */
type KeyCache = ReadonlyMap<string, readonly string[]>

/** If a key is missing and an unknown one is in its place, the unknown one is reported. */
function mistyped(issues: readonly z.core.$ZodIssue[], known: KeyCache): z.core.$ZodIssue | undefined {
  const [first] = issues
  if (first === undefined) return undefined
  const [missing, place] = [first.path.at(-1), String(first.path.slice(0, -1))]
  return issues.find(
    (issue) =>
      issue.code === 'unrecognized_keys' &&
      String(issue.path) === place &&
      issue.keys.some((key) => nearest(key, known.get(key) ?? []) === missing),
  )
}

function faultOf(issue: z.core.$ZodIssue, known: KeyCache): Fault {
  const { path, message } = issue
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys
    const keys = known.get(key) ?? []
    const meant = didYouMean(key, keys)
    const at = { path: [...path, key], message: `is not known${meant}` }
    return meant !== '' || keys.length === 0 ? at : { ...at, hint: `Known there: ${keys.join(', ')}.` }
  }
  return { path, message, tooLarge: issue.code === 'too_big' && issue.origin === 'string', issue }
}

function describeAt(value: unknown, path: readonly PropertyKey[], issue?: z.core.$ZodIssue): string {
  let at = value
  try {
    for (const key of path) {
      // A text was split into a list, so the index is not the caller's.
      if (typeof at === 'string') break
      if (at === null || typeof at !== 'object' || !Object.hasOwn(at, key)) return describeAtPlace(path, undefined)
      at = (at as Record<PropertyKey, unknown>)[key]
    }
    return describeAtPlace(path, at, issue)
  } catch {
    return UNREADABLE
  }
}

/** The path of the first property that throws when it is read, or null. */
function unreadablePath(value: unknown, seen: Set<object>): PropertyKey[] | null {
  if (value === null || typeof value !== 'object' || seen.has(value) || seen.size > OBJECTS_SEARCHED_MAX) return null
  seen.add(value)
  let at: PropertyKey[] = []
  try {
    for (const key of Object.keys(value)) {
      at = [key]
      const inner = unreadablePath((value as Record<string, unknown>)[key], seen)
      if (inner !== null) return [key, ...inner]
    }
    return null
  } catch {
    return at
  }
}
