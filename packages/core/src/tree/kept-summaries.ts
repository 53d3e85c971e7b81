import { LRUCache } from 'lru-cache'
import { fingerprint } from '../conversation/fingerprint.js'
import type { SummaryRequest } from '../speech/source.js'
import { summarizeExtractively } from '../summarizing/summarize.js'

/** Characters of summaries that are kept: those of the parts of some six threads of ten thousand messages. */
const CHARACTERS_MAX = 2_000_000

/** Summaries by all that they were made of. */
const kept = new LRUCache<string, string>({
  maxSize: CHARACTERS_MAX,
  sizeCalculation: ({ length }) => Math.max(1, length),
})

/**
 * As `summarizeExtractively`, for the parts of a long range: the background asks for them, and so does each request with a
 * budget of its own. Since a summary is a function of its request, it is made once for as long as it is kept.
 */
export function summarizePart(request: SummaryRequest): string {
  const key = fingerprint(JSON.stringify(request))
  const known = kept.get(key)
  if (known !== undefined) return known
  const summary = summarizeExtractively(request)
  kept.set(key, summary)
  return summary
}
