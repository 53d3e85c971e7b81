import type { ReplacementPolicy, RequestReader } from '@heddle/core'
import type { Clock, Logger } from '@heddle/runtime'
import type { ProxyBackend } from '../backend.js'
import type { ConversationStates } from '../conversation/conversation-states.js'
import type { Conversations } from '../conversation/conversations.js'
import type { MemoryBudget } from '../memory-budget.js'
import type { ProxyMetrics } from '../metrics.js'
import type { ModeDeps } from '../modes/asked-mode.js'
import type { Recorder } from '../record/recorder.js'
import type { Connections } from '../relay/connections.js'

/** Everything that an exchange with a provider needs. */
export interface ExchangeDeps extends ModeDeps {
  readonly connections: Connections
  readonly conversations: Conversations
  readonly states: ConversationStates
  readonly reader: RequestReader
  readonly recorder: Recorder
  readonly memory: MemoryBudget
  readonly metrics: ProxyMetrics
  readonly policy: ReplacementPolicy
  /** The share of conversations that stay unchanged for comparison, 0 to 1. */
  readonly control: number
  readonly lateMs: number
  readonly clock: Clock
  readonly log: Logger
  backend(): ProxyBackend | null
}
