export { sentencesFault, snapshotSentences } from '../speech/snapshot-sentences.js'
export {
  contentTokensMax,
  type FoldWindow,
  foldBounds,
  type Part,
  partSummaryTokensMax,
  partText,
  roughTokens,
  splitIntoParts,
} from './fold.js'
export { holdsFact, type PinnedFact, pinnedFacts, pinnedTokens, withPinnedFacts } from './pinned.js'
export { formatSource, type SummaryPrompt, summaryPrompt } from './prompts.js'
export { redactSecrets } from './redact.js'
export * from './summarize.js'
