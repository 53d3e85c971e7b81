export { calibratedScore, scoreAnchors } from '../search/calibration.js'
export {
  type ContextItems,
  type FullItem,
  itemsWithout,
  itemsWithSelection,
  type SelectionOutcome,
} from './context-items.js'
export { compareItems, effectiveInclude, type Item, itemLabel } from './item.js'
export { likeQuery } from './like-query.js'
export { replyTurns } from './reply-turns.js'
export {
  type IncludedItem,
  itemKey,
  requestItem,
  roundScore,
  selectedItems,
  shareForThread,
  type ThreadItem,
  type ThreadShare,
} from './request-items.js'
export {
  type Candidate,
  fitSelection,
  type LeftOut,
  type Scored,
  type Selection,
  selectByType,
  selectItems,
} from './selection.js'
export type { ShownItem } from './shown-item.js'
export { type ItemFigures, type ItemSuggestion, suggestionFor } from './suggestions.js'
export { type AnsweredContext, usedItems } from './used-items.js'
export { hybridScore, wordScores } from './word-scores.js'
