export { calibratedScore, scoreAnchors } from '../search/calibration.js'
export {
  type ContextItems,
  type FullItem,
  itemsWithout,
  itemsWithSelection,
  type SelectionOutcome,
} from './context-items.js'
export { compareItems, effectiveInclude, type Item, itemLabel } from './item.js'
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
export { type Candidate, type LeftOut, type Scored, type Selection, selectItems } from './selection.js'
export type { ShownItem } from './shown-item.js'
export { type ItemFigures, type ItemSuggestion, suggestionFor } from './suggestions.js'
export { type AnsweredContext, usedItems } from './used-items.js'
