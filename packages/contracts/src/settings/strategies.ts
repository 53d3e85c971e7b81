import { z } from 'zod'
import { validationError } from '../errors.js'
import { nameSchema } from '../primitives/names.js'
import { wording } from '../primitives/zod-messages.js'

/** The strategies that Heddle brings (docs/strategies.md, docs/iterations.md). */
export const builtInStrategies = ['sandwich', 'sliding-window', 'full-history', 'tree', 'iterations'] as const

/** The name of a strategy, built in or registered. */
export type StrategyName = string

/** The forms in which providers and frameworks take messages. */
export const formats = ['neutral', 'openai-chat', 'openai-responses', 'anthropic', 'ai-sdk'] as const
export type FormatName = (typeof formats)[number]

/**
 * How a history that is larger than its budget fills it. `cache`: it is compacted deep and seldom, so that the contexts of a
 * thread that grows begin alike, and a provider's prompt cache keeps what they share. `budget`: as much as fits is shown as it
 * was said, newest turns first, which is best for who asks once.
 */
export const fills = ['cache', 'budget'] as const
export type Fill = (typeof fills)[number]
export const fillSchema = z.enum(fills, { error: `must be one of ${fills.join(', ')}` })

/** Filled while a process starts and only ever longer, so that what a name means never changes under way. */
const known = new Set<StrategyName>(builtInStrategies)

/** The names that a request or a setting may hold in this process, those that Heddle brings first. */
export function strategyNames(): readonly StrategyName[] {
  return [...known]
}

/**
 * Makes a name known to requests and settings. For programs, `registerStrategy` of the core is the way: it does this too.
 *
 * @throws PermanentError `VALIDATION_ERROR` for a name that is taken, or is no name
 */
export function addStrategyName(name: StrategyName): void {
  if (known.has(name)) throw validationError('strategy', 'must be a name that is not taken', name)
  const checked = nameSchema.safeParse(name, { error: wording })
  if (!checked.success) throw validationError('strategy', checked.error.issues[0]?.message ?? 'must be a name', name)
  known.add(name)
}

export const strategyNameSchema = z
  .string({ error: () => mustBeKnown() })
  .refine((name) => known.has(name), { error: () => mustBeKnown() })

function mustBeKnown(): string {
  return `must be one of ${strategyNames().join(', ')}`
}
