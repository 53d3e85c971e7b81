import { recallTag } from '../conversation/references.js'
import type { SummarySource } from '../speech/source.js'
import { countTokens } from '../tokens/tokens.js'
import { oneLine } from '../tools/lines.js'

/** Something that a summary must not lose. */
export interface PinnedFact {
  /** The words of the message in one line; of a long one its beginning. */
  readonly text: string
  /** Under which the whole message can be recalled; empty where it has no reference. */
  readonly reference: string
}

/** Of a longer fact its beginning and its reference stand in the summary. */
const FACT_CHARACTERS_MAX = 400
/** Facts of one summary; of more, the latest. */
const FACTS_MAX = 50

/** What was pinned among the messages of a summary. */
export function pinnedFacts(messages: readonly SummarySource[]): PinnedFact[] {
  return messages
    .filter(({ pinned, text }) => pinned && oneLine(text, FACT_CHARACTERS_MAX) !== '')
    .slice(-FACTS_MAX)
    .map(({ text, reference }) => ({ text: oneLine(text, FACT_CHARACTERS_MAX), reference }))
}

/** Whether a summary says a fact in its own words, or names where it can be recalled. Case, spaces and signs do not count. */
export function holdsFact(summary: string, { text, reference }: PinnedFact): boolean {
  if (reference !== '' && summary.includes(recallTag(reference))) return true
  return words(summary).includes(words(text))
}

/**
 * A summary with the pinned facts that it lost written below it, as long as all of it fits; the check afterwards says
 * whether it did. A model cannot be trusted with a word-for-word copy, and need not be.
 */
export function withPinnedFacts(summary: string, facts: readonly PinnedFact[], tokensMax: number): string {
  const lost = facts.filter((fact) => !holdsFact(summary, fact))
  if (lost.length === 0) return summary
  const whole = `${summary.trimEnd()}\n\n${pinnedBlock(lost)}`
  if (countTokens(whole) <= tokensMax) return whole
  const references = lost.filter(({ reference }) => reference !== '').map(({ reference }) => recallTag(reference))
  return `${summary.trimEnd()}\n\nPinned: ${references.join(' ')}`
}

/** Tokens that the pinned facts may take of a summary: as much stays free for them. */
export function pinnedTokens(facts: readonly PinnedFact[]): number {
  return facts.length === 0 ? 0 : countTokens(pinnedBlock(facts)) + 2
}

function pinnedBlock(facts: readonly PinnedFact[]): string {
  const lines = facts.map(({ text, reference }) => `- ${text}${reference === '' ? '' : ` ${recallTag(reference)}`}`)
  return ['Pinned:', ...lines].join('\n')
}

function words(text: string): string {
  return ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `
}
