import type { ErrorData } from '../errors.js'
import type { PartialSettings } from '../settings/settings.js'
import type { Loop } from './threads.js'

/** An agent as a program gets it: its times are milliseconds since 1970. */
export interface AgentEntry {
  readonly agentId: string
  readonly name: string
  readonly version: number
  readonly systemPrompt: string
  readonly docs: readonly { name: string; text: string }[]
  readonly settings: PartialSettings
  readonly clearEpoch: number
  readonly lastClearedAtMs: number | null
  readonly createdAtMs: number
}

/** An agent of a list, with what its threads add up to. */
export interface AgentSummary {
  readonly agentId: string
  readonly name: string
  readonly version: number
  readonly threads: number
  readonly messages: number
  readonly tokensEstimate: number
  readonly lastMessageAtMs: number | null
  readonly lastClearedAtMs: number | null
  readonly createdAtMs: number
}

export interface ThreadSummary {
  readonly threadId: string
  readonly name: string
  readonly code: string
  readonly agentName: string
  readonly title: string | null
  readonly status: string | null
  readonly messages: number
  readonly tokensEstimate: number
  readonly lastMessageAtMs: number | null
  readonly lastError: string | null
  readonly createdAtMs: number
}

/** What a thread is about and how it stands, in one version. */
export interface ThreadEntry {
  readonly threadId: string
  readonly name: string
  readonly agentId: string
  /** 0 where nothing was ever told about the thread. */
  readonly version: number
  readonly title: string | null
  readonly goal: string | null
  readonly status: string | null
  readonly settings: PartialSettings
  readonly loop: Loop | null
}

/** How many messages of a thread are pruned in one lane, and what that takes out of its contexts. */
export interface PruningCounts {
  readonly condense: number
  readonly remove: number
  readonly stub: number
  readonly tokensFreed: number
}

/** What the summaries of a thread cost, as far as it is still recorded. */
export interface SummaryCosts {
  readonly summaries: number
  readonly calls: number
  readonly failedCalls: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** US dollars by list prices; calls of models whose price is not known count nothing, and are told. */
  readonly costUsd: number
  readonly callsWithoutPrice: number
}

/** What an erasure takes away as a whole. */
export type ErasureKind = 'project' | 'agent' | 'thread'

/** A job that failed for good, without its payload, which may be as large as the largest job. */
export interface DeadLetterEntry {
  readonly id: string
  readonly projectId: string
  readonly stage: string
  readonly jobId: string
  readonly threadId: string | null
  readonly error: ErrorData
  readonly attempts: number
  readonly failedAtMs: number
  readonly redrivenAtMs: number | null
}
