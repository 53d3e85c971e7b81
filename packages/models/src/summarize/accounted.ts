import type { SummaryCall } from '@heddle/contracts'
import { createExtractiveSummarizer } from './extractive-summarizer.js'
import type { Summarizer } from './summarizer.js'

/** Summaries of one thread in an hour that may call a provider, those that failed included; further ones are extractive. */
const SUMMARIES_PER_HOUR_MAX = 60

export interface Accounts {
  /** How many summaries called a provider in the last hour. */
  countMade(): Promise<number>
  /** Records what one summary called, whether or not it came to a good end. */
  record(calls: readonly SummaryCall[]): Promise<void>
  /** Told where the bound is reached. */
  onTooMany(made: number): void
}

/**
 * A summarizer with what it calls recorded. Past the bound of an hour it is the extractive one: who goes round in circles
 * must not cost without end, nor wait.
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
