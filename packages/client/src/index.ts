export type { ContextFor, ContextIn } from '@heddle/core'
export type { ArchiveHit, ArchiveSearchResult } from './archive.js'
export type { BuildOptions } from './build-context.js'
export { changeSettings } from './change-settings.js'
export { answerChatCommand, type ChatClient, type ChatCommand, type ChatField, type ChatReply } from './chat/index.js'
export type { ClearOptions, ClearResult } from './clears.js'
export { type Client, createClient } from './client.js'
export type { DeadLetterSelection, RedriveResult, RefusedLetter } from './dead-letters.js'
export { type EraseOptions, type ErasureResult, finishErasure, ownersOf } from './erasure.js'
export { countedFrom } from './fault-places.js'
export type { AiSdkEntry, AnthropicEntry, FormEntries } from './forms/entries.js'
export type { OpenAiChatEntry, OpenAiResponsesEntry } from './forms/openai-entries.js'
export type { OfferedGrant } from './grants.js'
export {
  type Continued,
  continuationIdOf,
  continueGrown,
  continueGrownIn,
  type EarlierForm,
  refuseChanged,
} from './growth.js'
export type { ListMessagesOptions, MessageEntry } from './history.js'
export { checkIdempotencyKey, idsOfKey, type KeyedKind } from './idempotency.js'
export type { SyncedTools, SyncOptions } from './item-sync.js'
export type { AgentItem, ListItemsOptions, ThreadsWithout } from './items.js'
export type { ItemsClient } from './items-client.js'
export type {
  AppendIterationsOptions,
  AppendIterationsResult,
  IterationEntry,
  ListIterationsOptions,
  LoopContext,
  LoopSummary,
  NewIteration,
} from './iterations.js'
export { type ApiKey, hasKeys, readKey } from './keys.js'
export type { AppendMessages, AppendOptions, AppendResult, NewMessage } from './messages.js'
export type { ClientOptions, Page } from './options.js'
export type { ThreadProcess } from './processes.js'
export type { Acknowledgement, Producer, ProducerOptions } from './producer.js'
export type { PlannedMessage, PlanOptions, PrunePlan } from './prune-plan.js'
export type { SearchHit, SearchResult } from './search.js'
export type { Excerpts, Neighbour } from './search-texts.js'
export * from './sessions/index.js'
export { loadStrategyModules } from './strategy-modules.js'
export type { ThreadBody } from './thread-details.js'
export type { ImportedThread, ImportThreadOptions } from './thread-import.js'
export type { ThreadItemEntry } from './thread-items.js'
export type { ListThreadsOptions, SettleOptions, StateOverview, ThreadOverview } from './threads.js'
export type { UncompactOptions, UncompactResult } from './uncompact.js'
