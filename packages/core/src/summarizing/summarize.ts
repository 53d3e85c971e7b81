import { summarizeConversation } from '../extractive/extractive.js'
import { summarizeSnapshot } from '../extractive/snapshot-summary.js'
import { summarizeProgressExtractively } from '../iterations/progress-summary.js'
import { finish, type Pausable } from '../recall/steps.js'
import type { SummaryRequest } from '../speech/source.js'

/** The name of summaries that are made without a model. */
export const EXTRACTIVE = 'extractive'

/** Summarizes without a model, each purpose in its own way. Deterministic. */
export function summarizeExtractively(request: SummaryRequest): string {
  return finish(summarizeExtractivelyInSteps(request))
}

/** The same, yielding after each message: the parts of a long range take a tenth of a second. */
export function* summarizeExtractivelyInSteps(request: SummaryRequest): Pausable<string> {
  switch (request.purpose) {
    case 'compaction':
      return yield* summarizeConversation(request)
    case 'progress':
      return summarizeProgressExtractively(request)
    case 'snapshot':
      return yield* summarizeSnapshot(request)
  }
}
