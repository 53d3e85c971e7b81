import { summarizeConversation } from '../extractive/extractive.js'
import { summarizeProgressExtractively } from '../iterations/progress-summary.js'
import type { SummaryRequest } from '../speech/source.js'

/** The name of summaries that are made without a model. */
export const EXTRACTIVE = 'extractive'

/** Summarizes without a model, each purpose in its own way. Deterministic. */
export function summarizeExtractively(request: SummaryRequest): string {
  return request.purpose === 'progress' ? summarizeProgressExtractively(request) : summarizeConversation(request)
}
