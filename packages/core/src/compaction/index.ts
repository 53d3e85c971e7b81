export { elideMiddle, SOURCE_CHARACTERS_MAX, summarySources } from '../summarizing/sources.js'
export { aheadTokens, isLeafAhead, stateAhead } from './ahead.js'
export { checkSummary, isPinnedLoss, type SummaryLimits, summaryFault } from './check-summary.js'
export {
  countMessageTokens,
  countMessageTokensInSteps,
  estimateMessageTokens,
  type MessageTokens,
  rawCost,
  sentTexts,
} from './costs.js'
export { usageBelowTrigger, usageUnder } from './growth.js'
export { dueTokens, isCompactionDue, type Lane, limitTokens, triggerTokens } from './lane.js'
export { ASKED_AGAIN_MS, HELD_MS, isRecorded, type KeptLane } from './lane-keeping.js'
export {
  type CompactionPlan,
  nextCompaction,
  type PlannedPruning,
  planCompaction,
  planOnDemand,
} from './plan.js'
export { toPruning } from './remaining.js'
export { isSummarizedInParts, SUMMARIZED_MESSAGES_MAX, settle, stateAfter } from './settle.js'
export { type CompactionState, type Coverage, isCovered, isOvertaken, type Pruning } from './state.js'
export { costUnder, summaryTokensMax } from './state-costs.js'
