export { checkSummary } from './check-summary.js'
export { countMessageTokens, rawCost, sentTexts } from './costs.js'
export { usageBelowTrigger, usageUnder } from './growth.js'
export { type Lane, laneOf, limitTokens, triggerTokens } from './lane.js'
export {
  type CompactionPlan,
  costUnder,
  nextCompaction,
  type PlannedPruning,
  planCompaction,
  summaryTokensMax,
} from './plan.js'
export { SUMMARIZED_MESSAGES_MAX, settle, stateAfter } from './settle.js'
export { elideMiddle, summarySources } from './sources.js'
export { type CompactionState, type Coverage, isCovered, isOvertaken, type Pruning } from './state.js'
