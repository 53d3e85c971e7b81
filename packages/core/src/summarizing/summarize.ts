import { summarizeConversation } from '../extractive/extractive.js'
import { summarizeProgressExtractively } from '../iterations/progress-summary.js'
import type { SummaryRequest } from '../speech/source.js'

/** Summarizes without a model, each purpose in its own way. Deterministic. */
export function summarizeExtractively(request: SummaryRequest): string {
  return request.purpose === 'progress' ? summarizeProgressExtractively(request) : summarizeConversation(request)
}
