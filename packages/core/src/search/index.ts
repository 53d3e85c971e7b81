export { type Block, findPostings, postingFinder } from './blocks.js'
export * from './document.js'
export { EXCERPT_CHARACTERS_MAX, excerpt } from './excerpt.js'
export { explainWords, type WordExplanation } from './explain.js'
export * from './fuse.js'
export {
  type Instruction,
  lastingInstructions,
  type SaidText,
  standingInstructions,
  takingsBack,
} from './instructions/index.js'
export { documentFilter, kindsOf, threadsOf } from './memberships.js'
export { isAboutRange, type MomentRange, momentOf, namedMoments } from './order/index.js'
export { eachPosting } from './posting-runs.js'
export { QUERY_TERMS_MAX, queryTerms } from './query.js'
export { rankWords, rarityOf } from './rank/rank.js'
export { byRelevance } from './relevance.js'
export { comparedResults, type Reordered, reorder } from './reorder.js'
export { postedTerms, type SearchQuery, searchQuery, unknownShare, wordQuery } from './search-query.js'
export {
  buildSegment,
  dropDocuments,
  dropThread,
  mergeSegments,
  type PlacedDocument,
  type PostingLists,
  postingLists,
  type Segment,
  segmentBytes,
} from './segment.js'
export { functionWords } from './terms/function-words.js'
export { termsOf } from './terms/words.js'
export type { RankedStatement, Statement } from './updates/index.js'
export * from './vectors/nearest.js'
export { hasRemadeVectors, remadeDimensions } from './vectors/remade-vectors.js'
export { VectorBlock, type VectorQuery, vectorQuery } from './vectors/vector-block.js'
export * from './word-query.js'
