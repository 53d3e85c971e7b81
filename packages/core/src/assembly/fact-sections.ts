import type { ReceiptEntry } from '@heddle/contracts'
import { limitTokens } from '../compaction/lane.js'
import { type FactPart, factParts } from '../facts/index.js'
import { countNeutralMessage } from '../formats/index.js'
import type { BuildInput } from './input.js'
import type { FixedSection } from './section.js'

/** Maximum share of the limit for facts, and once more for their changes, whatever the request allows. */
const FACTS_SHARE = 0.25
/** Facts that did not fit and are named one by one; the rest are counted. */
const LEFT_OUT_NAMED_MAX = 20

/** Recorded facts as of the last compaction, and what changed since, which follows the history so that the prefix stays. */
export function factSections({ facts, settings, format, count, reference }: BuildInput): FixedSection[] {
  if (facts === undefined) return []
  const { stable, changes, leftOut, beyond } = factParts(facts, {
    tokensMax: Math.min(facts.limits.tokensMax, Math.floor(limitTokens(settings) * FACTS_SHARE)),
    cost: (message) => countNeutralMessage(format, message, count),
    reference: (code) => reference({ code }),
  })
  const line = (fields: Partial<ReceiptEntry>, reason: string): ReceiptEntry => ({
    section: 'facts',
    mode: 'left-out',
    count: 0,
    tokens: 0,
    ...fields,
    reason,
  })
  const more = leftOut.length - LEFT_OUT_NAMED_MAX
  const notShown = [
    ...leftOut.slice(0, LEFT_OUT_NAMED_MAX).map(({ fact, reason }) => line({ fact }, reason)),
    ...(more > 0 ? [line({}, `${more} more facts did not fit`)] : []),
  ]
  const notes = [
    ...(leftOut.length === 0 ? [] : [`${leftOut.length} facts did not fit into the section of facts`]),
    ...(beyond === 0 ? [] : [`more facts hold than the ${facts.limits.limit} of the section`]),
  ]
  const sections = [
    ...sectionOf('facts', stable, 'recorded facts as of the last compaction'),
    ...sectionOf('fact-changes', changes, 'facts that changed since the last compaction'),
  ]
  const [first = { name: 'facts' as const, messages: [], reason: '' }, ...rest] = sections
  return notes.length === 0 ? sections : [{ ...first, leftOut: notShown, notes }, ...rest]
}

function sectionOf(name: 'facts' | 'fact-changes', part: FactPart | null, reason: string): FixedSection[] {
  return part === null ? [] : [{ name, messages: [part.message], reason, lines: part.lines, isOptional: true }]
}
