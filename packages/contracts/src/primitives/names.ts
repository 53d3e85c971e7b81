import { z } from 'zod'
import { limits } from './limits.js'

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what the rule refuses.
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/

/** The name that a user gives to a project, agent, thread or item: nearly any printable text, compared as it is. */
export const nameSchema = z
  .string()
  .min(1, 'must not be empty')
  .max(limits.nameCharactersMax, `must have at most ${limits.nameCharactersMax} characters`)
  .refine((name) => !CONTROL_CHARACTERS.test(name) && name.isWellFormed(), 'must not hold control characters')
  .refine((name) => name.trim() === name, 'must not start or end with white space')
  // Every program that reads an address takes these for steps in a path, however they are encoded.
  .refine((name) => name !== '.' && name !== '..', 'must not be "." or ".."')

export const idSchema = z.guid('must be a UUID').toLowerCase()

/** An id or a name from elsewhere, such as a provider's: kept as it is, in a column that cannot hold every character. */
export const foreignNameSchema = (charactersMax: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(charactersMax, `must have at most ${charactersMax} characters`)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), 'must not hold NUL characters or lone surrogates')

/** Milliseconds since 1970 of the first and the last moment that ISO 8601 spells with four digits of a year, in UTC. */
export const timeBoundsMs = {
  first: Date.parse('0000-01-01T00:00:00.000Z'),
  last: Date.parse('9999-12-31T23:59:59.999Z'),
}

/** An ISO 8601 time with a zone, to the millisecond, in the years 0 to 9999 of UTC: what every part can spell. */
export const timeSchema = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone, such as 2026-02-12T14:30:00Z' })
  .refine((time) => isWithinBounds(Date.parse(time)), 'must be a time that exists, in the years 0 to 9999 of UTC')

function isWithinBounds(timeMs: number): boolean {
  return timeMs >= timeBoundsMs.first && timeMs <= timeBoundsMs.last
}
