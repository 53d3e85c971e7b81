import { z } from 'zod'
import { limits } from './limits.js'

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what the rule refuses.
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/

/** The name that a user gives to a project, agent, thread or item: any printable text, compared as it is. */
export const nameSchema = z
  .string()
  .min(1, 'must not be empty')
  .max(limits.nameCharactersMax, `must have at most ${limits.nameCharactersMax} characters`)
  .refine((name) => !CONTROL_CHARACTERS.test(name) && name.isWellFormed(), 'must not hold control characters')
  .refine((name) => name.trim() === name, 'must not start or end with white space')

export const idSchema = z.guid('must be a UUID').transform((id) => id.toLowerCase())

/** An ISO 8601 time with a zone, to the millisecond, in the years that Postgres and JavaScript share. */
export const timeSchema = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone, such as 2026-02-12T14:30:00Z' })
  .refine((time) => !Number.isNaN(Date.parse(time)), 'must be a time that exists')
