import { setTimeout as sleep } from 'node:timers/promises'
import { RetryableError } from '@heddle/contracts'

const POLL_EVERY_MS = 100

/** Polls until a condition is met or the deadline has passed. */
export async function waitFor(
  look: () => Promise<{ isDone: boolean; facts: Record<string, unknown> }>,
  options: { what: string; deadlineMs: number; signal?: AbortSignal | undefined },
): Promise<void> {
  const endsAtMs = performance.now() + options.deadlineMs
  for (;;) {
    options.signal?.throwIfAborted()
    const { isDone, facts } = await look()
    if (isDone) return
    if (performance.now() >= endsAtMs) {
      throw new RetryableError('TIMEOUT', `waited ${options.deadlineMs} ms for ${options.what}`, {
        facts,
        hint: '`heddle queues` shows waiting jobs, and `heddle doctor` checks the servers',
      })
    }
    await sleep(POLL_EVERY_MS, undefined, options.signal ? { signal: options.signal } : {})
  }
}
