export * from './activity.js'
export { type AgentWindow, loadAgentWindow } from './agent-window.js'
export * from './agents.js'
export * from './api-keys.js'
export { type AppendBatch, appendMessages, isRepeat } from './append-messages.js'
export type { Append, AppendOutcome, PreparedMessage } from './append-plan.js'
export * from './applications.js'
export * from './archive.js'
export * from './archive-hits.js'
export * from './archive-reading.js'
export * from './archive-selection.js'
export * from './clears.js'
export * from './compaction.js'
export type { Tx } from './connection.js'
export { contentElementSteps } from './content-element.js'
export {
  findOpenTurn,
  type ItemUse,
  loadAnswered,
  recordItemUses,
} from './context-items.js'
export * from './contexts.js'
export { loadContextAt, type MomentQuery } from './contexts-at.js'
export * from './conversation.js'
export * from './cursors.js'
export * from './dead-letters.js'
export { type Dependence, growthBetween, loadDependence, loadVersions } from './dependence.js'
export { ensureThread, type ThreadToEnsure } from './ensure-threads.js'
export {
  beginErasure,
  continueErasure,
  type Erasure,
  type ErasureKind,
  type ErasureTarget,
  findUnfinishedErasures,
  loadErasure,
  loadThreadIdsOf,
} from './erasure.js'
export * from './event-log.js'
export * from './events.js'
export { createExactVectors } from './exact-vectors.js'
export { exportTables, unexportedColumns } from './export-tables.js'
export * from './finish-context.js'
export * from './grants.js'
export * from './health.js'
export { type HistoryMessage, type HistoryPage, type HistoryQuery, listHistory } from './history.js'
export { inSlices } from './in-slices.js'
export {
  findItems,
  type ItemListing,
  type ItemQuery,
  type ItemRow,
  listAllItems,
  listItems,
  loadAgentItems,
} from './item-reading.js'
export { type RelevanceQuery, relevantItems } from './item-relevance.js'
export { type ItemStatsRow, type ItemStatsTotals, loadItemStats, STATS_CONTEXTS_MAX } from './item-stats.js'
export {
  type EmbeddableItem,
  type EmbedItemsOptions,
  embedItems,
  type ItemVectors,
  loadItemVectors,
} from './item-vectors.js'
export {
  type ItemChange,
  type PutItem,
  putItems,
  putToolServer,
  removeItems,
} from './items.js'
export { type KnownIteration, type PreparedIteration, planIterations } from './iteration-plan.js'
export * from './iteration-reading.js'
export * from './iterations.js'
export * from './loops.js'
export { loadMemoryRows, type MemoryRow } from './memory-rows.js'
export { type FoundRow, type FoundRows, findMessages } from './message-search.js'
export * from './messages.js'
export { type MigrateOptions, migrate } from './migrate.js'
export { type AgentOutsideWindow, findOutsideWindows } from './outside-windows.js'
export { digestResult, type PackedResult, packJson, unpackResult } from './packed-result.js'
export { importPartContents, loadPartContents, partHashesOf } from './part-contents.js'
export { appendPostings, type IndexedMessage, mergePostings } from './postings.js'
export { type Prepared, prepareContexts, stopPreparing } from './prepared-contexts.js'
export { loadPreviousFill } from './previous-fill.js'
export * from './processes.js'
export * from './progress.js'
export * from './projects.js'
export * from './prunings.js'
export * from './publish-states.js'
export * from './references.js'
export { findOriginals, holdHead, insertMarks, type NewMark, type StoredOriginal } from './restore-marks.js'
export { type Expiry, type RetainedKind, removeExpired, retainedKinds } from './retention.js'
export * from './search-hits.js'
export type { QueryEmbedder, SearchConditions, SearchParts } from './search-scope.js'
export { removeSnapshotFile, type SnapshotPlace, snapshotPath, writeSnapshotFile } from './snapshot-files.js'
export { type SweptFiles, sweepSnapshotFiles } from './snapshot-sweep.js'
export {
  failSnapshot,
  finishSnapshot,
  holdSnapshot,
  listSnapshots,
  loadSnapshot,
  loadSnapshotRow,
  noteRestored,
  requestSnapshot,
  type SnapshotRow,
  type SnapshotStore,
  standingPart,
} from './snapshots.js'
export * from './states.js'
export { openStore, type Store, type StoreOptions } from './store.js'
export { type LinesBase, packLines, rebuildContext } from './stored-contexts.js'
export * from './summary-calls.js'
export * from './summary-tree.js'
export * from './thread-counts.js'
export {
  loadThreadDetails,
  putThread,
  type ThreadChange,
  type ThreadDetailsRow,
} from './thread-details.js'
export * from './thread-export.js'
export * from './thread-export-items.js'
export * from './thread-import.js'
export * from './thread-import-archive.js'
export * from './thread-import-items.js'
export * from './thread-import-messages.js'
export * from './thread-import-states.js'
export { changeThreadItem, listThreadsWithout, loadThreadItems } from './thread-items.js'
export { loadThreadSizes, type StoredThreadSizes } from './thread-sizes.js'
export * from './threads.js'
export { recordTokenCounts, type TokenCount } from './token-counts.js'
export { holdThread } from './tombstones.js'
export type { TransactionOptions } from './transaction.js'
export { takeTurn } from './turns.js'
export { uncoveredSize } from './uncovered-size.js'
export * from './undone.js'
export * from './unsettled.js'
export { canIndex, isIndexable, type PgvectorState } from './vector-points.js'
export * from './vector-scopes.js'
export {
  bytesPerVector,
  type Nearest,
  type NearestRequest,
  VECTOR_CACHE_BYTES_MAX,
  VECTORS_EXACT_MAX,
  type VectorComparison,
  type VectorSearch,
} from './vector-search.js'
export * from './vectors.js'
export * from './window.js'
export { countWindow, type WindowCounts, type WindowCountsQuery } from './window-counts.js'
export * from './window-threads.js'
export * from './word-search.js'
