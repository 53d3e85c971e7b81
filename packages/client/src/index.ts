export type { ContextFor, ContextIn } from '@heddle/core'
export { changeSettings } from './agents/change-settings.js'
export type { ClearOptions, ClearResult } from './agents/clears.js'
export { countedFrom } from './calls/fault-places.js'
export { checkIdempotencyKey, idsOfKey, type KeyedKind } from './calls/idempotency.js'
export { answerChatCommand, type ChatClient, type ChatCommand, type ChatField, type ChatReply } from './chat/index.js'
export { type Client, createClient } from './client.js'
export type { BuildOptions } from './contexts/build-context.js'
export type { PlannedMessage, PlanOptions, PrunePlan } from './contexts/prune-plan.js'
export type { UncompactOptions, UncompactResult } from './contexts/uncompact.js'
export type { AiSdkEntry, AnthropicEntry, FormEntries } from './forms/entries.js'
export type { OpenAiChatEntry, OpenAiResponsesEntry } from './forms/openai-entries.js'
export type { SyncedTools, SyncOptions } from './items/item-sync.js'
export type { AgentItem, ListItemsOptions, ThreadsWithout } from './items/items.js'
export type { ItemsClient } from './items/items-client.js'
export type { ThreadItemEntry } from './items/thread-items.js'
export {
  type Continued,
  continuationIdOf,
  continueGrown,
  continueGrownIn,
  type EarlierForm,
  refuseChanged,
} from './messages/growth.js'
export type { ListMessagesOptions, MessageEntry } from './messages/history.js'
export type { AppendMessages, AppendOptions, AppendResult, NewMessage } from './messages/messages.js'
export type { Acknowledgement, Producer, ProducerOptions } from './messages/producer.js'
export type { DeadLetterSelection, RedriveResult, RefusedLetter } from './projects/dead-letters.js'
export { type EraseOptions, type ErasureResult, finishErasure, ownersOf } from './projects/erasure.js'
export type { OfferedGrant } from './projects/grants.js'
export { type ApiKey, hasKeys, readKey } from './projects/keys.js'
export type { ArchiveHit, ArchiveSearchResult } from './recall/archive.js'
export type { SearchHit, SearchResult } from './recall/search.js'
export type { Excerpts, Neighbour } from './recall/search-texts.js'
export * from './sessions/index.js'
export type { ClientOptions, Page } from './setup/options.js'
export { loadStrategyModules } from './strategy-modules.js'
export type {
  AppendIterationsOptions,
  AppendIterationsResult,
  IterationEntry,
  ListIterationsOptions,
  LoopContext,
  LoopSummary,
  NewIteration,
} from './threads/iterations.js'
export type { ThreadProcess } from './threads/processes.js'
export type { ThreadBody } from './threads/thread-details.js'
export type { ImportedThread, ImportThreadOptions } from './threads/thread-import.js'
export type { ListThreadsOptions, SettleOptions, StateOverview, ThreadOverview } from './threads/threads.js'
