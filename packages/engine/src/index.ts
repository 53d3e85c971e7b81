export type { ContextFor, ContextIn } from '@heddle/contracts'
export { changeSettings } from './agents/change-settings.js'

export {
  answerChatCommand,
  type ChatClient,
  type ChatCommand,
  type ChatField,
  type ChatReply,
} from './chat/index.js'
export { createClient } from './client.js'
export { KnownContexts } from './contexts/known-contexts.js'

export {
  type Continued,
  continuationIdOf,
  continueGrown,
  continueGrownIn,
  type EarlierForm,
  refuseChanged,
} from './messages/continue-partial-reply.js'
export { DirectAppends, type DirectAppendsOptions } from './messages/direct-appends.js'
export { finishErasure } from './projects/erasure.js'
export { ownersOf } from './projects/job-owners.js'
export { hasKeys, readKey } from './projects/keys.js'

export type { SearchReranker } from './recall/search-reranker.js'
export { openClient } from './setup/open-client.js'
export type { ClientOptions } from './setup/options.js'
export { loadStrategyModules } from './strategy-modules.js'
