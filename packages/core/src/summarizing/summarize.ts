import { summarizeConversation } from '../extractive/extractive.js'
import { summarizeSnapshotExtractively } from '../extractive/snapshot-summary.js'
import { summarizeProgressExtractively } from '../iterations/progress-summary.js'
import type { SummaryRequest } from '../speech/source.js'

/** The name of summaries that are made without a model. */
export const EXTRACTIVE = 'extractive'

/** Summarizes without a model, each purpose in its own way. Deterministic. */
export function summarizeExtractively(request: SummaryRequest): string {
  switch (request.purpose) {
    case 'compaction':
      return summarizeConversation(request)
    case 'progress':
      return summarizeProgressExtractively(request)
    case 'snapshot':
      return summarizeSnapshotExtractively(request)
  }
}
