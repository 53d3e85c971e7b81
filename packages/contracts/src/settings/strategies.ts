import { z } from 'zod'
import { validationError } from '../errors.js'
import { nameSchema } from '../primitives/names.js'
import { wording } from '../primitives/zod-messages.js'

/** The built-in strategies (docs/strategies.md, docs/iterations.md). */
export const builtInStrategies = ['sandwich', 'sliding-window', 'full-history', 'tree', 'iterations'] as const

/** The name of a strategy, built in or registered. */
export type StrategyName = string

/** Message formats of providers and frameworks. */
export const formats = ['neutral', 'openai-chat', 'openai-responses', 'anthropic', 'ai-sdk'] as const
export type FormatName = (typeof formats)[number]

/**
 * How a history that is larger than its budget fills it. `cache`: compacted deeply and seldom, so that the contexts of
 * a growing thread share a prefix, which a provider's prompt cache can reuse. `budget`: as much as fits is shown
 * verbatim, newest turns first, which is best for a single request.
 */
export const fills = ['cache', 'budget'] as const
export type Fill = (typeof fills)[number]
export const fillSchema = z.enum(fills, { error: `must be one of ${fills.join(', ')}` })

/** Filled at startup and only appended to, so that the meaning of a name never changes at run time. */
const known = new Set<StrategyName>(builtInStrategies)

/** The strategy names that this process accepts, built-in ones first. */
export function strategyNames(): readonly StrategyName[] {
  return [...known]
}

/**
 * Makes requests and settings accept a name. Programs should use `registerStrategy` of the core, which also calls this.
 *
 * @throws PermanentError `VALIDATION_ERROR` for a name that is taken, or is not a name
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
