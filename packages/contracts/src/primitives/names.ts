import { z } from 'zod'
import { limits } from './limits.js'

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what the rule refuses.
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/

/** The user's name for a project, agent, thread or item: nearly any printable text, compared exactly. */
export const nameSchema = z
  .string()
  .min(1, 'must not be empty')
  .max(limits.nameCharactersMax, `must have at most ${limits.nameCharactersMax} characters`)
  .refine((name) => !CONTROL_CHARACTERS.test(name) && name.isWellFormed(), 'must not hold control characters')
  .refine((name) => name.trim() === name, 'must not start or end with white space')
  // Programs that read a URL treat these as path steps, however they are encoded.
  .refine((name) => name !== '.' && name !== '..', 'must not be "." or ".."')

export const idSchema = z.guid('must be a UUID').toLowerCase()

/**
 * An id or a name from elsewhere, such as a provider's: kept unchanged, in a column that cannot store every character.
 */
export const foreignNameSchema = (charactersMax: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(charactersMax, `must have at most ${charactersMax} characters`)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), 'must not contain NUL characters or lone surrogates')

/** Milliseconds since 1970 of the first and the last moment with a four-digit year in ISO 8601, in UTC. */
export const timeBoundsMs = {
  first: Date.parse('0000-01-01T00:00:00.000Z'),
  last: Date.parse('9999-12-31T23:59:59.999Z'),
}

/** An ISO 8601 time with a zone, in milliseconds, in the years 0 to 9999 of UTC, which all components can represent. */
export const timeSchema = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone, such as 2026-02-12T14:30:00Z' })
  .refine((time) => isWithinBounds(Date.parse(time)), 'must be a time that exists, in the years 0 to 9999 of UTC')

function isWithinBounds(timeMs: number): boolean {
  return timeMs >= timeBoundsMs.first && timeMs <= timeBoundsMs.last
}
