import { z } from 'zod'
import { itemTypes } from '../items/items.js'
import { limits } from '../primitives/limits.js'
import { nameSchema } from '../primitives/names.js'
import { momentSchema } from '../recall/archive.js'

const ITEM_NAME = new RegExp(`^(${itemTypes.join('|')})/.`)

/** An item in a scope: `rule/tone`, `reference/api`, `tool/search`, or `tool/github.search` if servers share a name. */
const scopeItemSchema = z
  .string()
  .max(2 * limits.nameCharactersMax + 20)
  .regex(ITEM_NAME, 'must be the type and the name of an item, such as rule/tone, reference/api or tool/search')

/** Limits the contents of a context, so that it can be passed to another agent as a briefing. */
export const scopeSchema = z.strictObject({
  /** Threads of the agent whose messages are shown, in one conversation. Default: only the thread of the request. */
  threads: z
    .array(nameSchema)
    .min(1, 'must name a thread')
    .max(limits.scopeThreadsMax, `must name at most ${limits.scopeThreadsMax} threads`)
    .refine((names) => new Set(names).size === names.length, 'must name each thread once')
    .optional(),
  /** Only messages at or after this moment. A summary that also covers earlier ones is not shown. */
  since: momentSchema.optional(),
  /** The items that may be shown: all, none, or the named ones. Default: all. */
  items: z.union([z.boolean(), z.array(scopeItemSchema).max(limits.itemsPerAgentMax)]).optional(),
  /**
   * Whether earlier messages are recalled: `false` never, whatever the request and the settings say; `true` even if the
   * settings do not enable it. They are limited by `threads` and `since`. Default: as without a scope.
   */
  memories: z.boolean().optional(),
})
export type Scope = z.infer<typeof scopeSchema>

export const scopeReceiptSchema = z.object({
  threads: z.array(z.string()),
  /** The absolute time of the request's `since`. */
  since: z.string().nullable(),
})
