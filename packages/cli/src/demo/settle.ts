import { HeddleError } from '@heddle/contracts'
import type { Engine } from '@heddle/host'

/** One call of a provider: a summary that is being written takes ten to twenty seconds, a demo not much more. */
export const DEMO_CALL_MS_MAX = 20_000
const SETTLE_MS_MAX = 120_000
/** How often a provider is looked after, in milliseconds. */
const LOOK_EVERY_MS = 1_000
/** One failure may pass; a second one before anything went well, or one that took a whole call's time, will not. */
const FAILURES_MAX = 2

/**
 * Waits until all of a thread is pruned and summarized. A provider that is away holds up no context, so it does not hold up
 * the demo either: that gives up as soon as all that was asked of it has failed.
 *
 * @returns why the summarizer was given up, as a sentence; null where all is settled
 */
export async function settle({ client, models }: Engine, thread: string, signal: AbortSignal): Promise<string | null> {
  const startMs = performance.now()
  for (;;) {
    try {
      await client.threads.waitUntilSettled(thread, { deadlineMs: LOOK_EVERY_MS, signal })
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
