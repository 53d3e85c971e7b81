import { z } from 'zod'
import { itemTypes } from '../items/items.js'
import { limits } from '../primitives/limits.js'
import { nameSchema } from '../primitives/names.js'
import { momentSchema } from '../recall/archive.js'

const ITEM_NAME = new RegExp(`^(${itemTypes.join('|')})/.`)

/** An item as a scope names it: `rule/tone`, `reference/api`, `tool/search`, or `tool/github.search` where servers share a name. */
const scopeItemSchema = z
  .string()
  .max(2 * limits.nameCharactersMax + 20)
  .regex(ITEM_NAME, 'must be the type and the name of an item, such as rule/tone, reference/api or tool/search')

/** What a context may tell of, at most: so bounded it can be handed to another agent as a briefing. */
export const scopeSchema = z.strictObject({
  /** Threads of the agent whose messages are shown, in one conversation. Default the thread of the request alone. */
  threads: z
    .array(nameSchema)
    .min(1, 'must name a thread')
    .max(limits.scopeThreadsMax, `must name at most ${limits.scopeThreadsMax} threads`)
    .refine((names) => new Set(names).size === names.length, 'must name each thread once')
    .optional(),
  /** Messages at or after this moment alone. A summary that tells of earlier ones, too, is not shown. */
  since: momentSchema.optional(),
  /** The items that may be shown: all, none, or those that are named. Default all. */
  items: z.union([z.boolean(), z.array(scopeItemSchema).max(limits.itemsPerAgentMax)]).optional(),
  /**
   * Whether earlier messages are recalled: `false` none, whatever the request and the settings say; `true` also where the
   * settings do not ask for it. They come from what `threads` and `since` let in. Default as without a scope.
   */
  memories: z.boolean().optional(),
})
export type Scope = z.infer<typeof scopeSchema>

/** The scope of a context as its receipt tells of it. */
export const scopeReceiptSchema = z.object({
  threads: z.array(z.string()),
  /** The moment that the request's `since` stood for. */
  since: z.string().nullable(),
})
