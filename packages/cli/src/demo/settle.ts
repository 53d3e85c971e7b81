import { HeddleError } from '@heddle/contracts'
import type { Engine } from '@heddle/host'

/** Limit of one provider call: a summary takes ten to twenty seconds, and the demo should not take much longer. */
export const DEMO_CALL_MS_MAX = 20_000
const SETTLE_MS_MAX = 120_000
/** Milliseconds between checks whether the provider still answers. */
const POLL_EVERY_MS = 1_000
/** One failure may be transient. Two failures without a success, or one that took the whole limit, are not. */
const FAILURES_MAX = 2

/**
 * Waits until a thread is completely pruned and summarized. An unavailable provider delays no context, so it must not delay
 * the demo either: the wait ends as soon as all calls so far have failed.
 *
 * @returns why the summarizer was given up, as a sentence; null once the thread is settled
 */
export async function settle({ client, models }: Engine, thread: string, signal: AbortSignal): Promise<string | null> {
  const startMs = performance.now()
  for (;;) {
    try {
      await client.threads.waitUntilSettled(thread, { deadlineMs: POLL_EVERY_MS, signal })
      return null
    } catch (error) {
      if (!(error instanceof HeddleError) || error.code !== 'TIMEOUT') throw error
    }
    const waitedMs = performance.now() - startMs
    const { summaryCosts: costs, lastError } = await client.threads.get(thread)
    const isAway = costs.failedCalls > 0 && costs.failedCalls === costs.calls
    if (isAway && (costs.failedCalls >= FAILURES_MAX || waitedMs > DEMO_CALL_MS_MAX)) {
      return wentOn(`${models.summarizer} failed ${costs.failedCalls === 1 ? 'once' : `${costs.failedCalls} times`}`)
    }
    if (waitedMs > SETTLE_MS_MAX) return wentOn(lastError ?? `${models.summarizer} did not finish in time`)
  }
}

function wentOn(why: string): string {
  return `${why}: this context was built with the extractive summarizer instead`
}
