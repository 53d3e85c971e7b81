export type { CoverageRange } from '../compaction/coverage.js'
export { chooseFill, type PreviousFill } from './choose-fill.js'
export { defineStrategy, limitNotPositive, noMessages, type StrategyRules } from './define.js'
export { ITERATIONS, MESSAGES_LEFT_OUT } from './iterations.js'
export { laneOf } from './lane-of.js'
export { registerStrategy, type StrategyKit, type StrategyMaker, strategyKit, strategyOf } from './registry.js'
export { coverMiddle } from './sandwich.js'
export { type OtherState, standIn } from './stand-in.js'
export type {
  BuildOptions,
  ContextStrategy,
  FittedHistory,
  HistoryInput,
  StrategyContext,
  TooSmall,
} from './strategy.js'
