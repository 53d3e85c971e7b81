import { z } from 'zod'
import { didYouMean } from './nearest.js'

/**
 * Common error texts for rules without a text in the schema. Passed to each parse and never set globally, since
 * programs that use Heddle have their own schemas.
 */
export const wording: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is needed' : `must be ${nouns[issue.expected] ?? `a ${issue.expected}`}`
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(', ')}`
    case 'too_small':
      return `must ${isCounted(issue.origin) ? 'have' : 'be'} ${bound(issue.minimum, issue.inclusive, 'least', 'more than')}${unit(issue.origin, issue.minimum)}`
    case 'too_big':
      return `must ${isCounted(issue.origin) ? 'have' : 'be'} ${bound(issue.maximum, issue.inclusive, 'most', 'less than')}${unit(issue.origin, issue.maximum)}`
    case 'invalid_format':
      return formats[issue.format] ?? 'is not in the required format'
    case 'unrecognized_keys':
      return `has unknown keys: ${issue.keys.map((key) => key + didYouMean(key, knownKeys(issue))).join(', ')}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_union':
      return 'has no permitted form'
    default:
      return 'is not valid'
  }
}

/** The permitted keys of an object with an unknown key, without deprecated ones. */
export function knownKeys(issue: z.core.$ZodRawIssue): string[] {
  const { inst } = issue
  if (!(inst instanceof z.ZodObject)) return []
  const fields = Object.entries(inst.shape as Readonly<Record<string, z.ZodType>>)
  return fields.filter(([, field]) => field.meta?.()?.['deprecated'] !== true).map(([name]) => name)
}

const nouns: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  never: 'left out',
}

const formats: Readonly<Record<string, string>> = {
  uuid: 'must be a UUID',
  url: 'must be an address',
  datetime: 'must be a time with its zone, such as 2026-02-12T14:30:00Z',
}

function isCounted(origin: string): boolean {
  return origin === 'string' || origin === 'array' || origin === 'set' || origin === 'map'
}

function bound(value: number | bigint, inclusive: boolean | undefined, extreme: string, beyond: string): string {
  return inclusive === false ? `${beyond} ${value}` : `at ${extreme} ${value}`
}

function unit(origin: string, value: number | bigint): string {
  if (!isCounted(origin)) return ''
  const one = origin === 'string' ? 'character' : 'entry'
  const many = origin === 'string' ? 'characters' : 'entries'
  return ` ${Number(value) === 1 ? one : many}`
}
