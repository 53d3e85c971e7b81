import { LRUCache } from 'lru-cache'
import { fingerprint } from '../conversation/fingerprint.js'
import { finish, type Pausable } from '../recall/steps.js'
import type { SummaryRequest } from '../speech/source.js'
import { summarizeExtractivelyInSteps } from '../summarizing/summarize.js'

/** Characters of cached summaries: those of the parts of some six threads of ten thousand messages. */
const CHARACTERS_MAX = 2_000_000

/** Summaries by their complete inputs. */
const kept = new LRUCache<string, string>({
  maxSize: CHARACTERS_MAX,
  sizeCalculation: ({ length }) => Math.max(1, length),
})

/**
 * Like `summarizeExtractively`, for the parts of a long range: requested in the background, and by each request with a
 * budget of its own. A summary is a function of its request, so it is cached.
 */
export function summarizePart(request: SummaryRequest): string {
  return finish(summarizePartInSteps(request))
}

/** The same, yielding as `summarizeExtractivelyInSteps`. */
export function* summarizePartInSteps(request: SummaryRequest): Pausable<string> {
  const key = fingerprint(JSON.stringify(request))
  const known = kept.get(key)
  if (known !== undefined) return known
  const summary = yield* summarizeExtractivelyInSteps(request)
  kept.set(key, summary)
  return summary
}
