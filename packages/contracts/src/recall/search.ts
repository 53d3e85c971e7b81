import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { nameSchema } from '../primitives/names.js'
import { archiveKinds, momentSchema, pathSchema, searchLegsSchema } from './archive.js'

/** Kinds of searchable messages: the archive's kinds for results and replies, else the roles of messages. */
export const searchKinds = [...archiveKinds, 'user', 'system', 'error', 'approval'] as const
export type SearchKind = (typeof searchKinds)[number]

export const searchOrders = ['relevance', 'time'] as const
export type SearchOrder = (typeof searchOrders)[number]

/**
 * A search over the messages of an agent's threads, of one thread, or of the whole project. All conditions must match.
 */
export const searchRequestSchema = z.strictObject({
  /** Words, in any order; a message ranks higher with more and rarer words. */
  query: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(limits.searchCharactersMax, `must have at most ${limits.searchCharactersMax} characters`),
  agent: nameSchema.optional(),
  thread: nameSchema.optional(),
  kinds: z
    .array(z.enum(searchKinds, { error: `must be one of ${searchKinds.join(', ')}` }))
    .min(1)
    .max(searchKinds.length)
    .optional(),
  /** Results and calls about a file, or a folder with everything in it; `src/a.ts` also matches `/repo/src/a.ts`. */
  path: pathSchema.optional(),
  /** `true`: only messages of people with a lasting instruction or preference, such as "always", "I prefer". */
  instructions: z.boolean().optional(),
  /** Messages at or after this moment. */
  since: momentSchema.optional(),
  /** Messages before this moment. */
  until: momentSchema.optional(),
  /** Messages about this moment or a later one: the dates that they name count, otherwise when they were said. */
  from: momentSchema.optional(),
  /** Messages about an earlier moment than this. */
  to: momentSchema.optional(),
  limit: z.int().min(1).max(limits.pageItemsMax).default(20),
  by: searchLegsSchema,
  /** The best first, or the best in the order of their moments, the earliest first. */
  sort: z.enum(searchOrders, { error: `must be one of ${searchOrders.join(', ')}` }).default('relevance'),
  /** Whether each hit says why it has its place: `explanation`. */
  explain: z.boolean().default(false),
})
export type SearchRequest = z.input<typeof searchRequestSchema>
