export * from './admin/applications.js'
export * from './admin/health.js'
export { acquireLease } from './admin/lease.js'
export { type MigrateOptions, migrate } from './admin/migrate.js'
export * from './admin/models-in-use.js'
export { TableShrinker } from './admin/shrink-tables.js'
export { AppendCommits, type AppendCommitsOptions } from './appends/append-commits.js'
export * from './archive/archive.js'
export * from './archive/archive-hits.js'
export * from './archive/archive-reading.js'
export * from './archive/archive-selection.js'
export { loadReadArchive } from './archive/read-archive.js'
export { type BackupHead, readBackup } from './backup/backup.js'
export { type BackupSummary, checkBackup } from './backup/read-records.js'
export { type Restored, restoreBackup } from './backup/restore.js'
export {
  type AgentCalibration,
  type CalibrationRow,
  hasNewReports,
  learnFromReplies,
  listCalibrations,
  listStrongest,
} from './calibration/calibrations.js'
export * from './compaction/compaction.js'
export { dropSurplusLanes, type KeptCompaction, loadKeptCompactions } from './compaction/kept-compactions.js'
export { type AskedLane, type KeptLaneRow, type KeptUsage, loadKeptLanes } from './compaction/kept-lanes.js'
export { findLedger, loadLedger } from './compaction/ledgers.js'
export * from './compaction/prunings.js'
export * from './compaction/publish-states.js'
export * from './compaction/states.js'
export * from './compaction/summary-calls.js'
export * from './compaction/summary-tree.js'
export * from './compaction/thread-counts.js'
export { loadThreadSizes, type StoredThreadSizes } from './compaction/thread-sizes.js'
export { uncoveredSize } from './compaction/uncovered-size.js'
export type { Tx } from './connection/connection.js'
export { commitBehind, type TransactionOptions } from './connection/transaction.js'
export {
  findOpenTurn,
  type ItemUse,
  loadAnswered,
  recordItemUses,
} from './contexts/context-items.js'
export * from './contexts/contexts.js'
export { loadContextAt, type MomentQuery } from './contexts/contexts-at.js'
export { type Dependence, growthBetween, loadDependence, loadVersions } from './contexts/dependence.js'
export * from './contexts/finish-context.js'
export { digestPatched, digestResult, type PackedResult, packJson, unpackResult } from './contexts/packed-result.js'
export { type Prepared, prepareContexts, stopPreparing } from './contexts/prepared-contexts.js'
export { loadPreviousFill } from './contexts/previous-fill.js'
export { hadLessTime } from './contexts/repeated-requests.js'
export {
  listRequestContexts,
  loadRequestContext,
  type RequestContextItemRow,
  type RequestContextRow,
} from './contexts/request-contexts.js'
export { type LinesBase, packLines, rebuildContext } from './contexts/stored-contexts.js'
export {
  beginErasure,
  continueErasure,
  type Erasure,
  type ErasureTarget,
  findUnfinishedErasures,
  loadErasure,
  loadThreadIdsOf,
} from './erasure/erasure.js'
export {
  type BegunErasure,
  beginMessageErasure,
  ERASED,
  loadErasedMessages,
  type MessageErasure,
  openMessageErasures,
} from './erasure/messages/begin-message-erasure.js'
export { asksFor, withoutErased } from './erasure/messages/erased-payloads.js'
export { type Expiry, type RetainedKind, removeExpired, retainedKinds } from './erasure/retention.js'
export * from './events/dead-letters.js'
export * from './events/event-log.js'
export * from './events/events.js'
export { type ContextFactsQuery, loadContextFacts } from './facts/context-facts.js'
export * from './facts/extraction.js'
export * from './facts/facts.js'
export { compareThreads, type ThreadComparison } from './forks/compare-threads.js'
export { forksOf } from './forks/fork-decisions.js'
export { type ForkedThread, forkThread, loadForkMoment, type NewFork } from './forks/fork-thread.js'
export { loadSharedRuns, SHARED_RUNS_MAX, type SharedRun } from './forks/lineage.js'
export {
  findItems,
  type ItemListing,
  type ItemQuery,
  type ItemRow,
  listAllItems,
  listItems,
  loadAgentItems,
} from './items/item-reading.js'
export { type RelevanceQuery, relevantItems } from './items/item-relevance.js'
export { type ItemStatsRow, type ItemStatsTotals, loadItemStats, STATS_CONTEXTS_MAX } from './items/item-stats.js'
export {
  type EmbeddableItem,
  type EmbedItemsOptions,
  embedItems,
  type ItemVectors,
  loadItemVectors,
} from './items/item-vectors.js'
export {
  type ItemChange,
  type PutItem,
  putItems,
  putToolServer,
  removeItems,
} from './items/items.js'
export { changeThreadItem, listThreadsWithout, loadThreadItems } from './items/thread-items.js'
export * from './iterations/iteration-reading.js'
export { storedIterations } from './iterations/iterations.js'
export * from './iterations/progress.js'
export * from './iterations/run-state.js'
export * from './memory-blocks/block-grants.js'
export * from './memory-blocks/blocks.js'
export { listBlocks, loadContextBlocks } from './memory-blocks/context-blocks.js'
export type { BlockOwners, OwnedBlock } from './memory-blocks/own-blocks.js'
export { type AppendBatch, appendMessages, isRepeat } from './messages/append-messages.js'
export { type Append, type AppendOutcome, ERASED_FINGERPRINT, type PreparedMessage } from './messages/append-plan.js'
export { ensureThread, type ThreadToEnsure } from './messages/ensure-threads.js'
export { type EstimatedSize, estimateNext } from './messages/estimated-size.js'
export { type HistoryMessage, type HistoryPage, type HistoryQuery, listHistory } from './messages/history.js'
export { loadMessagePage, type MessagePage, type PlacedMessage } from './messages/message-pages.js'
export * from './messages/messages.js'
export { loadNewestMessages, type NewestMessages, type NewestQuery } from './messages/newest-messages.js'
export { importPartContents, loadPartContents, partHashesOf } from './messages/part-contents.js'
export {
  type AgentListing,
  findAgentPlaces,
  findSourcePlaces,
  type MessagePlace,
  type SourceListing,
  type ThreadPosition,
} from './messages/places.js'
export * from './messages/references.js'
export { findOriginals, holdHead, insertMarks, type NewMark, type StoredOriginal } from './messages/restore-marks.js'
export { recordTokenCounts, type TokenCount } from './messages/token-counts.js'
export { findErasedMessages, findTombstones, holdThread } from './messages/tombstones.js'
export {
  type LargestRow,
  listLargest,
  loadToolsOf,
  loadToolUse,
  type ToolUseRow,
  type WeighedPlace,
} from './messages/tool-use.js'
export type { Database } from './placement/databases.js'
export { findDatabase, requireNoMoves } from './placement/move/find-database.js'
export { listPlacements, type PlacedProject } from './placement/move/list-placements.js'
export type { AdminAddresses } from './placement/move/move-connections.js'
export { abandonMove, moveProject } from './placement/move/move-project.js'
export { type Move, type MoveFigures, type MoveState, moveStates } from './placement/move/moves.js'
export type { MoveOptions } from './placement/move/project-move.js'
export * from './projects/agents.js'
export * from './projects/api-keys.js'
export * from './projects/grants.js'
export * from './projects/projects.js'
export * from './proxied/proxied-conversations.js'
export * from './proxied/proxied-requests.js'
export * from './proxied/proxied-views.js'
export * from './proxied/proxy-modes.js'
export { loadCallsOf, wordsOf } from './search/document-words.js'
export { loadInstructionPlaces } from './search/instruction-places.js'
export { loadMemoryRows, type MemoryRow } from './search/memory-rows.js'
export { type FoundRow, type FoundRows, findMessages } from './search/message-search.js'
export { appendPostings, holdPostings, type IndexedMessage, mergePostings } from './search/postings.js'
export * from './search/search-hits.js'
export type { MessageRanking } from './search/search-ranking.js'
export type { QueryEmbedder, SearchConditions, SearchParts } from './search/search-scope.js'
export { findUnindexedThreads } from './search/unindexed-messages.js'
export * from './search/word-search.js'
export { noteFileRestored, noteRestored } from './snapshots/restore-times.js'
export { removeSnapshotFile, type SnapshotPlace, snapshotPath, writeSnapshotFile } from './snapshots/snapshot-files.js'
export { type SweptFiles, sweepSnapshotFiles } from './snapshots/snapshot-sweep.js'
export {
  failSnapshot,
  finishSnapshot,
  holdSnapshot,
  listSnapshots,
  loadSnapshot,
  loadSnapshotRow,
  renewSnapshotSummary,
  requestSnapshot,
  type SnapshotRow,
  type SnapshotStore,
  withoutErasedThreads,
} from './snapshots/snapshots.js'
export { contentElementSteps } from './sql/content-element.js'
export { openStore, type Store, type StoreOptions } from './store.js'
export * from './threads/activity.js'
export * from './threads/cursors.js'
export * from './threads/processes.js'
export { loadStagesBehind, type StageBehindRow } from './threads/stages-behind.js'
export {
  loadThreadDetails,
  putThread,
  type ThreadChange,
  type ThreadDetailsRow,
} from './threads/thread-details.js'
export { loadThreadWindows, type ThreadWindowRow } from './threads/thread-windows.js'
export * from './threads/threads.js'
export * from './threads/turns.js'
export * from './threads/unsettled.js'
export { exportTables, unexportedColumns } from './transfer/export-tables.js'
export * from './transfer/thread-export.js'
export * from './transfer/thread-export-items.js'
export * from './transfer/thread-import.js'
export * from './transfer/thread-import-archive.js'
export * from './transfer/thread-import-facts.js'
export * from './transfer/thread-import-items.js'
export * from './transfer/thread-import-messages.js'
export * from './transfer/thread-import-states.js'
export type { EmbeddedChunk } from './vectors/chunk.js'
export { createExactVectors } from './vectors/exact-vectors.js'
export { canIndex, isIndexable, type PgvectorState } from './vectors/vector-points.js'
export * from './vectors/vector-scopes.js'
export {
  bytesPerVector,
  type Nearest,
  type NearestRequest,
  VECTOR_CACHE_BYTES_MAX,
  VECTORS_EXACT_MAX,
  type VectorComparison,
  type VectorSearch,
} from './vectors/vector-search.js'
export * from './vectors/vectors.js'
export { type AgentWindow, loadAgentWindow } from './window/agent-window.js'
export * from './window/clears.js'
export * from './window/conversation.js'
export { type AgentOutsideWindow, findOutsideWindows } from './window/outside-windows.js'
export * from './window/pins.js'
export * from './window/undone.js'
export * from './window/window.js'
export { countWindow, type WindowCounts, type WindowCountsQuery } from './window/window-counts.js'
export * from './window/window-threads.js'
