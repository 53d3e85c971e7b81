/* The interface of the client. Its results are schemas of the contracts, exported from here under these names. */
export type {
  Agent,
  AgentItem,
  AgentSummary,
  ApiKey,
  AppendIterationsResult,
  AppendResult,
  ArchiveHit,
  ArchiveSearchResult,
  BlockKey,
  Calibration,
  ClearResult,
  CompressOptions,
  CompressResult,
  DeadLetterDetails,
  DeadLetterEntry,
  EraseMessagesOptions,
  ErasureResult,
  Excerpts,
  ExtractedFacts,
  Fact,
  FactBody,
  FactExtraction,
  FactListOptions,
  ForkBody,
  ForkedThread,
  ImportedThread,
  IterationEntry,
  KeyBody,
  KeyChange,
  LargestMessage,
  MemoryAudit,
  MemoryBlock,
  MessageEntry,
  Neighbour,
  NewApiKey,
  OfferedGrant,
  PinEntry,
  PinOptions,
  PinResult,
  PlannedMessage,
  PlanOptions,
  ProxiedRequest,
  ProxyTotals,
  PrunePlan,
  RedriveResult,
  RunState,
  RunSummary,
  SearchExplanation,
  SearchHit,
  SearchResult,
  SettingInForce,
  StageState,
  StageSwitched,
  StandingInstruction,
  StateOverview,
  SummarizedMessage,
  SummaryNode,
  SyncedTools,
  ThreadBody,
  ThreadComparison,
  ThreadEntry,
  ThreadItemEntry,
  ThreadOverview,
  ThreadProcess,
  ThreadSummary,
  ThreadsWithout,
  ToolUse,
  UncompactOptions,
  UncompactResult,
  UnpinOptions,
} from '@heddle/contracts'
export * from './agents.js'
export * from './blocks.js'
export * from './client.js'
export * from './contexts.js'
export * from './events.js'
export * from './facts.js'
export * from './hooks.js'
export * from './items.js'
export * from './iterations.js'
export * from './messages.js'
export * from './pages.js'
export * from './projects.js'
export * from './proxy.js'
export * from './snapshots.js'
export * from './stages.js'
export * from './threads.js'
