import type { Candidate } from '../speech/sections.js'
import { oneLine, truncate } from '../tools/lines.js'
import { baseName } from './names.js'

/** Phrases in which agents report to a model that the user stopped a call. */
const REFUSED = /user (?:doesn't want to (?:proceed|take this action)|rejected|declined|denied|refused)/i
/** Phrases before the user's own words. */
const LEAD = /(?:the user said|user feedback|provided the following (?:reason|feedback)[^:\n]{0,80}):/i
/** The phrase is at the beginning of the result. */
const READ_CHARACTERS_MAX = 4_000
const WORDS_CHARACTERS_MAX = 320

/**
 * The user's text if a result says that the user refused the call, empty without a text; null if the result is no
 * refusal.
 */
export function refusalIn(result: string): string | null {
  const read = result.slice(0, READ_CHARACTERS_MAX).toWellFormed()
  if (!REFUSED.test(read.slice(0, 400))) return null
  const lead = LEAD.exec(read)
  return lead ? oneLine(read.slice(lead.index + lead[0].length)) : ''
}

/** A refusal counts as a request, because it says what the user wants instead. */
export function refusalLine(words: string, label: string, place: number, reference: string): Candidate {
  const text = truncate(
    `${truncate(words, WORDS_CHARACTERS_MAX)} (said instead of allowing ${truncate(label.startsWith('/') ? baseName(label) : label, 50)})`,
    420,
  )
  return { section: 'requests', text, score: 8, place, reference }
}
