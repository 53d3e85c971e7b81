import { EXTRACTIVE, summarizePart } from '@heddle/core'
import type { Summarizer } from './summarizer.js'

/** A summarizer without a model, a key or a network: it selects text of the messages (see core). */
export function createExtractiveSummarizer(): Summarizer {
  return {
    name: EXTRACTIVE,
    async summarize(request, signal) {
      signal?.throwIfAborted()
      return summarizePart(request)
    },
  }
}
