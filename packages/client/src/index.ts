export type { ContextFor, ContextIn } from '@heddle/core'
export { changeSettings } from './agents/change-settings.js'
export { countedFrom } from './calls/fault-places.js'
export { checkIdempotencyKey, idsOfKey, type KeyedKind } from './calls/idempotency.js'
export { answerChatCommand, type ChatClient, type ChatCommand, type ChatField, type ChatReply } from './chat/index.js'
export { createClient } from './client.js'
export type { AiSdkEntry, AnthropicEntry, FormEntries } from './forms/entries.js'
export type { OpenAiChatEntry, OpenAiResponsesEntry } from './forms/openai-entries.js'
export type { ClearOptions, ClearResult } from './interface/agents.js'
export type { Client } from './interface/client.js'
export type { BuildOptions } from './interface/contexts.js'
export type {
  AgentItem,
  ItemsClient,
  ListItemsOptions,
  SyncedTools,
  SyncOptions,
  ThreadItemEntry,
  ThreadsWithout,
} from './interface/items.js'
export type {
  AppendIterationsOptions,
  AppendIterationsResult,
  IterationEntry,
  ListIterationsOptions,
  LoopContext,
  LoopSummary,
  NewIteration,
} from './interface/iterations.js'
export type {
  Acknowledgement,
  AppendMessages,
  AppendOptions,
  AppendResult,
  ListMessagesOptions,
  MessageEntry,
  NewMessage,
  Producer,
  ProducerOptions,
} from './interface/messages.js'
export type { Page } from './interface/pages.js'
export type {
  ApiKey,
  DeadLetterSelection,
  EraseOptions,
  ErasureResult,
  OfferedGrant,
  RedriveResult,
  RefusedLetter,
} from './interface/projects.js'
export type { PlannedMessage, PlanOptions, PrunePlan, UncompactOptions, UncompactResult } from './interface/pruning.js'
export type {
  ArchiveHit,
  ArchiveSearchResult,
  Excerpts,
  Neighbour,
  SearchHit,
  SearchResult,
} from './interface/recall.js'
export type {
  ImportedThread,
  ImportThreadOptions,
  ListThreadsOptions,
  SettleOptions,
  StateOverview,
  ThreadBody,
  ThreadOverview,
  ThreadProcess,
} from './interface/threads.js'
export {
  type Continued,
  continuationIdOf,
  continueGrown,
  continueGrownIn,
  type EarlierForm,
  refuseChanged,
} from './messages/growth.js'
export { finishErasure, ownersOf } from './projects/erasure.js'
export { hasKeys, readKey } from './projects/keys.js'
export * from './sessions/index.js'
export type { ClientOptions } from './setup/options.js'
export { loadStrategyModules } from './strategy-modules.js'
