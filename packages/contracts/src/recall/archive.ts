import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { foreignNameSchema, nameSchema, timeSchema } from '../primitives/names.js'
import { toolKinds } from '../settings/tools.js'

/** The rankings that a search can use. */
export const searchLegs = ['both', 'words', 'meaning'] as const
export type SearchLegs = (typeof searchLegs)[number]

export const searchLegsSchema = z.enum(searchLegs, { error: `must be one of ${searchLegs.join(', ')}` }).default('both')

/** Kinds of archive entries: the kinds of tools, and assistant replies. */
export const archiveKinds = [...toolKinds, 'assistant'] as const
export type ArchiveKind = (typeof archiveKinds)[number]

/** `90s`, `15m`, `1h`, `7d` or `2w`: a duration before now. */
const AGO = /^(\d{1,6})([smhdw])$/
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** A moment: a time, or a duration before now. */
export const momentSchema = z.union([z.string().regex(AGO), timeSchema], {
  error: 'must be how long ago, such as 90s, 15m, 1h, 7d or 2w, or a time such as 2026-02-12T14:30:00Z',
})

/** The moment in milliseconds since 1970. */
export function momentMs(moment: string, nowMs: number): number {
  const [, count, unit] = AGO.exec(moment) ?? []
  return unit === undefined ? Date.parse(moment) : nowMs - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]
}

/** A file or a folder in a filter. */
export const pathSchema = z
  .string()
  .min(1)
  .max(limits.pathCharactersMax)
  .refine((path) => !path.includes('\0') && path.isWellFormed(), 'must not contain NUL characters or lone surrogates')

/** Filters for archived contents: all must match. */
const selection = {
  agent: nameSchema.optional(),
  thread: nameSchema.optional(),
  kinds: z
    .array(z.enum(archiveKinds, { error: `must be one of ${archiveKinds.join(', ')}` }))
    .min(1)
    .max(archiveKinds.length)
    .optional(),
  /** The name of the tool, ignoring case. */
  tool: foreignNameSchema(512).optional(),
  /** A file, or a folder with everything in it; `src/a.ts` also matches `/repo/src/a.ts`. */
  path: pathSchema.optional(),
  /** Whether the tool reported a failure. */
  failed: z.boolean().optional(),
  /** Messages at or after this moment. */
  since: momentSchema.optional(),
  /** Messages before this moment. */
  until: momentSchema.optional(),
}

/** "All file views of the last hour", "every failed command": newest first. */
export const archiveListSchema = z.strictObject({
  ...selection,
  limit: z.int().min(1).max(limits.pageItemsMax).default(100),
  /** The `nextCursor` of the previous page. */
  cursor: z.string().max(limits.cursorCharactersMax).optional(),
  /** @deprecated The former name of `cursor`. */
  after: z.string().max(limits.cursorCharactersMax).optional().meta({ deprecated: true }),
})
export type ArchiveListRequest = z.input<typeof archiveListSchema>

export const archiveSearchSchema = z.strictObject({
  ...selection,
  /** Words, in any order; an entry ranks higher with more and rarer words. */
  query: z.string().trim().min(1, 'must not be empty').max(limits.searchCharactersMax),
  limit: z.int().min(1).max(limits.pageItemsMax).default(20),
  by: searchLegsSchema,
})
export type ArchiveSearchRequest = z.input<typeof archiveSearchSchema>
