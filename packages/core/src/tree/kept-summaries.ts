import { fingerprint } from '../conversation/fingerprint.js'
import type { SummaryRequest } from '../speech/source.js'
import { summarizeExtractively } from '../summarizing/summarize.js'

/** Characters of summaries that are kept: those of the parts of some six threads of ten thousand messages. */
const CHARACTERS_MAX = 2_000_000

/** Summaries by all that they were made of, those used last at the end. */
const kept = new Map<string, string>()
let characters = 0

/**
 * As `summarizeExtractively`, for the parts of a long range: the background asks for them, and so does each request with a
 * budget of its own. Since a summary is a function of its request, it is made once for as long as it is kept.
 */
export function summarizePart(request: SummaryRequest): string {
  const key = fingerprint(JSON.stringify(request))
  const known = kept.get(key)
  if (known !== undefined) {
    kept.delete(key)
    kept.set(key, known)
    return known
  }
  const summary = summarizeExtractively(request)
  kept.set(key, summary)
  characters += summary.length
  for (const [oldest, text] of kept) {
    if (characters <= CHARACTERS_MAX) break
    kept.delete(oldest)
    characters -= text.length
  }
  return summary
}
