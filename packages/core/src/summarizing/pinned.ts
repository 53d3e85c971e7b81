import { recallTag } from '../conversation/references.js'
import type { SummarySource } from '../speech/source.js'
import { countTokens } from '../tokens/tokens.js'
import { oneLine } from '../tools/lines.js'

/** Something that a summary must not lose. */
export interface PinnedFact {
  /** The text of the message on one line; of a long one its beginning. */
  readonly text: string
  /** The reference for recalling the whole message; empty if it has no reference. */
  readonly reference: string
}

/** Longer facts are represented by their beginning and their reference. */
const FACT_CHARACTERS_MAX = 400
/** Facts per summary; beyond that, only the latest. */
const FACTS_MAX = 50

export function pinnedFacts(messages: readonly SummarySource[]): PinnedFact[] {
  return messages
    .filter(({ pinned, text }) => pinned && oneLine(text, FACT_CHARACTERS_MAX) !== '')
    .slice(-FACTS_MAX)
    .map(({ text, reference }) => ({ text: oneLine(text, FACT_CHARACTERS_MAX), reference }))
}

/** Whether a summary states a fact, or contains its reference. Case, spaces and punctuation are ignored. */
export function holdsFact(summary: string, { text, reference }: PinnedFact): boolean {
  if (reference !== '' && summary.includes(recallTag(reference))) return true
  return plainWords(summary).includes(plainWords(text))
}

/**
 * Appends the pinned facts that a summary lost, if all of them fit; the later check verifies it. A model cannot be
 * trusted with a verbatim copy.
 */
export function withPinnedFacts(summary: string, facts: readonly PinnedFact[], tokensMax: number): string {
  const lost = facts.filter((fact) => !holdsFact(summary, fact))
  if (lost.length === 0) return summary
  const whole = `${summary.trimEnd()}\n\n${pinnedBlock(lost)}`
  if (countTokens(whole) <= tokensMax) return whole
  const references = lost.filter(({ reference }) => reference !== '').map(({ reference }) => recallTag(reference))
  return `${summary.trimEnd()}\n\nPinned: ${references.join(' ')}`
}

/** Tokens reserved in a summary for the pinned facts. */
export function pinnedTokens(facts: readonly PinnedFact[]): number {
  return facts.length === 0 ? 0 : countTokens(pinnedBlock(facts)) + 2
}

function pinnedBlock(facts: readonly PinnedFact[]): string {
  const lines = facts.map(({ text, reference }) => `- ${text}${reference === '' ? '' : ` ${recallTag(reference)}`}`)
  return ['Pinned:', ...lines].join('\n')
}

/** The words of a text in lower case between single spaces, with one before and after: for comparisons that ignore the rest. */
export function plainWords(text: string): string {
  return ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `
}
