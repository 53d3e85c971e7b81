export { COMPARED_MIN, type ConversationCost, type CostComparison, compareCosts } from './compare-costs.js'
export { headDigest, recordedHead } from './recorded-head.js'
export { type RecordedRequest, recordedRequest } from './recorded-request.js'
export {
  type RecordedBefore,
  type RecordedEntry,
  type RecordedHead,
  type RecordedStub,
  type RecordedText,
  type RequestDelta,
  requestDelta,
  textHash,
} from './request-delta.js'
