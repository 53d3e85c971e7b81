export * from './activity.js'
export * from './agents.js'
export { type AppendBatch, appendMessages, isRepeat } from './append-messages.js'
export type { Append, AppendOutcome, PreparedMessage } from './append-plan.js'
export * from './applications.js'
export * from './archive.js'
export * from './archive-selection.js'
export * from './chunks.js'
export * from './clears.js'
export * from './compaction.js'
export type { Tx } from './connection.js'
export * from './contexts.js'
export * from './conversation.js'
export * from './cursors.js'
export * from './dead-letters.js'
export { ensureThread, type ThreadToEnsure } from './ensure-threads.js'
export {
  beginErasure,
  continueErasure,
  type Erasure,
  type ErasureKind,
  type ErasureTarget,
  findUnfinishedErasures,
  loadErasure,
} from './erasure.js'
export * from './events.js'
export { exportTables, unexportedColumns } from './export-tables.js'
export * from './grants.js'
export * from './health.js'
export { type HistoryMessage, type HistoryPage, type HistoryQuery, listHistory } from './history.js'
export { type KnownIteration, type PreparedIteration, planIterations } from './iteration-plan.js'
export * from './iterations.js'
export * from './messages.js'
export { type MigrateOptions, migrate } from './migrate.js'
export * from './processes.js'
export * from './projects.js'
export * from './prunings.js'
export * from './publish-states.js'
export * from './references.js'
export { type Expiry, type RetainedKind, removeExpired, retainedKinds } from './retention.js'
export { insertSnapshot, loadSnapshot, type NewSnapshot } from './snapshots.js'
export * from './states.js'
export { openStore, type Store, type StoreOptions, type TransactionOptions } from './store.js'
export * from './thread-counts.js'
export {
  loadThreadDetails,
  putThread,
  type ThreadChange,
  type ThreadDetailsRow,
} from './thread-details.js'
export * from './thread-export.js'
export * from './thread-import.js'
export * from './thread-import-states.js'
export * from './threads.js'
export * from './undone.js'
export * from './window.js'
