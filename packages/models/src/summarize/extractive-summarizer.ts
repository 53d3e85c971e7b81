import { EXTRACTIVE, summarizePartInSteps } from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import type { Summarizer } from './summarizer.js'

/**
 * A summarizer without a model, a key or a network: it selects text of the messages (see core). It pauses every few
 * milliseconds, because the process that summarizes may also append, assemble and serve requests.
 */
export function createExtractiveSummarizer(): Summarizer {
  return {
    name: EXTRACTIVE,
    async summarize(request, signal) {
      return await runCooperatively(summarizePartInSteps(request), { signal })
    },
  }
}
