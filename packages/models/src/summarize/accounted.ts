import type { SummaryCall } from '@heddle/contracts'
import { createExtractiveSummarizer } from './extractive-summarizer.js'
import type { Summarizer } from './summarizer.js'

/** Summaries of one thread per hour that may call a provider, including failed ones; further ones are extractive. */
const SUMMARIES_PER_HOUR_MAX = 60

export interface Accounts {
  /** Counts the summaries of the last hour that called a provider. */
  countMade(): Promise<number>
  /** Records the calls of one summary, successful or not. */
  record(calls: readonly SummaryCall[]): Promise<void>
  /** Called if the limit is reached. */
  onTooMany(made: number): void
}

/**
 * A summarizer that records its calls. Above the hourly limit it is the extractive one, so that an agent in an endless loop
 * neither costs without limit nor waits.
 */
export async function accountedFor(chosen: Summarizer, accounts: Accounts): Promise<Summarizer> {
  if (chosen.isRemote !== true) return chosen
  const made = await accounts.countMade()
  if (made >= SUMMARIES_PER_HOUR_MAX) {
    accounts.onTooMany(made)
    return createExtractiveSummarizer()
  }
  return {
    ...chosen,
    async summarize(request, signal, along) {
      const calls: SummaryCall[] = []
      try {
        return await chosen.summarize(request, signal, { ...along, onCall: (call) => calls.push(call) })
      } finally {
        if (calls.length > 0) await accounts.record(calls)
      }
    },
  }
}
