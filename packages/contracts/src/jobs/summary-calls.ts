/** What a summary is for: it decides on the prompt. */
export type SummaryPurpose = 'compaction' | 'snapshot' | 'progress'

/** One call of a provider, for the record of what summaries cost. */
export interface SummaryCall {
  readonly purpose: SummaryPurpose
  readonly provider: string
  readonly model: string
  readonly outcome: 'ok' | 'failed'
  /** The code of the error; null where it went well. */
  readonly errorCode: string | null
  /** As the provider counted, else by o200k; null where the call failed before anything was counted. */
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  /** US dollars by list prices; null where the price of the model is not known. */
  readonly costUsd: number | null
  readonly durationMs: number
}
