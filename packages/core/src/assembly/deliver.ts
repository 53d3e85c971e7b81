import { PermanentError } from '@heddle/contracts'
import { countFrame, countNeutralMessage, formatFaults, type Rendered, render } from '../formats/index.js'
import type { NeutralMessage } from '../formats/neutral-message.js'
import { repairNeutral } from '../formats/repair.js'
import type { BuildInput } from './input.js'

/** A context rendered in its delivery format. */
export interface Delivery {
  readonly rendered: Rendered
  readonly tokensUsed: number
  readonly notes: readonly string[]
}

export interface Outgoing {
  readonly messages: readonly NeutralMessage[]
  /** Message counts at which a stable part ends; see `RenderOptions`. */
  readonly stableEnds: readonly number[]
  readonly tokensUsed: number
  /** Part of `tokensUsed`: the tool definitions, which are sent beside the messages. */
  readonly toolsTokens: number
  readonly budget: number
}

/** Faults listed in an error. */
const FAULTS_TOLD_MAX = 10

/**
 * Renders a context and checks it against the rules of the providers that take its format. Violations are repaired if
 * that fits the budget; otherwise the context is refused, so a broken context is never delivered.
 *
 * @throws PermanentError `VALIDATION_ERROR` with the faults
 */
export function deliver(outgoing: Outgoing, { format, count }: BuildInput): Delivery {
  const { messages, stableEnds, tokensUsed, budget } = outgoing
  const rendered = render(format, messages, { stableEnds })
  const faults = formatFaults(format, rendered)
  if (faults.length === 0) return { rendered, tokensUsed, notes: [] }

  const mended = repairNeutral(messages)
  const again = render(format, mended)
  const beside = outgoing.toolsTokens + countFrame(format, count)
  const cost = mended.reduce((sum, each) => sum + countNeutralMessage(format, each, count), beside)
  if (formatFaults(format, again).length > 0 || cost > budget) throw refused(format, faults)
  const note = `repaired for the rules of ${format}: ${faults[0]}${faults.length > 1 ? `, and ${faults.length - 1} more` : ''}`
  return { rendered: again, tokensUsed: Math.max(cost, tokensUsed), notes: [note] }
}

function refused(format: string, faults: readonly string[]): PermanentError {
  return new PermanentError('VALIDATION_ERROR', `format: a provider would refuse the context: ${faults[0]}`, {
    field: 'format',
    received: format,
    facts: { faults: faults.slice(0, FAULTS_TOLD_MAX) },
    hint: 'request another format or another strategy; the stored messages are unchanged',
  })
}
