import { isKnownModel } from '@heddle/core'
import type { ModelInUse } from '@heddle/store'
import { type Check, passed, warned } from './check.js'

/** Models that are named; more are counted. */
const MODELS_SHOWN_MAX = 20

/**
 * Whether the windows of the models in use are known.
 *
 * @param configured the model of the configuration, or null
 * @param assumedTokens the window of the others
 */
export function windowCheck(
  used: readonly ModelInUse[],
  { configured, assumedTokens }: { configured: string | null; assumedTokens: number },
): Check {
  const name = 'model windows'
  const unknown = used.filter(({ model }) => !isKnownModel(model)).map(describe)
  const own = configured === null || isKnownModel(configured) ? [] : [`"${configured}" (the configuration)`]
  const all = [...own, ...unknown]
  if (all.length === 0) {
    const known = used.length + (configured === null ? 0 : 1)
    return passed(name, known === 0 ? 'no model is named' : 'the windows of all models in use are known')
  }
  const more = all.length > MODELS_SHOWN_MAX ? [`and ${all.length - MODELS_SHOWN_MAX} more`] : []
  return warned(
    name,
    `not known: ${[...all.slice(0, MODELS_SHOWN_MAX), ...more].join(', ')}; unknownModelWindow is assumed: ${assumedTokens} tokens`,
    'Name a file of models.dev with HEDDLE_MODELS_FILE, or set HEDDLE_UNKNOWN_MODEL_WINDOW or the budget of these agents.',
  )
}

function describe({ model, agents, threads, contexts }: ModelInUse): string {
  const counts = [
    ...(agents > 0 ? [`${agents} ${agents === 1 ? 'agent' : 'agents'}`] : []),
    ...(threads > 0 ? [`${threads} ${threads === 1 ? 'thread' : 'threads'}`] : []),
    ...(contexts > 0 ? [`${contexts} ${contexts === 1 ? 'context' : 'contexts'}`] : []),
  ]
  return `"${model}" (${counts.join(', ')})`
}
