/* The common parts of the adapters for frameworks, each of which is a package of its own. */
export { saidIn } from './align.js'
export { Availability } from './availability.js'
export { Conversation, type ConversationOptions } from './conversation.js'
export {
  type AdapterClient,
  type AdapterOptions,
  BUDGET_DEFAULT,
  clientOf,
  DEADLINE_MS_DEFAULT,
} from './options.js'
export { checkedThread, RecentThreads } from './recent-threads.js'
export { type AgentToolsOptions, agentTools } from './tools.js'
