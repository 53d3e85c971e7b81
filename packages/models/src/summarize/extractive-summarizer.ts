import { summarizePart } from '@heddle/core'
import type { Summarizer } from './summarizer.js'

/** A summarizer that needs no model, no key and no network: it picks what stands in the messages (see core). */
export function createExtractiveSummarizer(): Summarizer {
  return {
    name: 'extractive',
    async summarize(request, signal) {
      signal?.throwIfAborted()
      return summarizePart(request)
    },
  }
}
