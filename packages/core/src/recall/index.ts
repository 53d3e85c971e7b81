export { type LineSelection, parseLineRange, selectLines } from './lines.js'
export { type ContentPiece, cutPiece } from './piece.js'
export { excerptsOf, type LineMatch, nthMatch, type SearchedLines, searchLines } from './search.js'
export { finish, type Pausable } from './steps.js'
export {
  measure as measureTokens,
  prefixWithinTokens,
  type TruncatedContent,
  truncateMatches,
  truncateToTokens,
} from './truncate.js'
