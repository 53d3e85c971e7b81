/** The purpose of a summary, which determines the prompt. */
export type SummaryPurpose = 'compaction' | 'snapshot' | 'progress'

/** The purpose of a provider call: a summary, or facts that are read from messages. */
export type CallPurpose = SummaryPurpose | 'facts'

/** One provider call, for the record of costs. */
export interface SummaryCall {
  readonly purpose: CallPurpose
  readonly provider: string
  readonly model: string
  readonly outcome: 'ok' | 'failed'
  /** The code of the error; null on success. */
  readonly errorCode: string | null
  /** The provider's count, else by o200k; null if the call failed before counting. */
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  /** US dollars by list prices; null if the model's price is unknown. */
  readonly costUsd: number | null
  readonly durationMs: number
}
