export { type LineSelection, parseLineRange, selectLines } from './lines.js'
export { excerptsOf, type LineMatch, nthMatch, type SearchedLines, searchLines } from './search.js'
export { finish, type Steps } from './steps.js'
export { prefixWithinTokens, type TruncatedContent, truncateMatches, truncateToTokens } from './truncate.js'
