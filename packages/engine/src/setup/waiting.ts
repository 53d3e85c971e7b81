import { RetryableError } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'

const POLL_EVERY_MS = 100

/** Polls until a condition is met or the deadline has passed. */
export async function waitFor(
  look: () => Promise<{ isDone: boolean; facts: Record<string, unknown> }>,
  {
    what,
    deadlineMs,
    signal,
    clock,
  }: { what: string; deadlineMs: number; signal?: AbortSignal | undefined; clock: Pick<Clock, 'monotonicMs' | 'wait'> },
): Promise<void> {
  const endsAtMs = clock.monotonicMs() + deadlineMs
  for (;;) {
    signal?.throwIfAborted()
    const { isDone, facts } = await look()
    if (isDone) return
    if (clock.monotonicMs() >= endsAtMs) {
      throw new RetryableError('TIMEOUT', `waited ${deadlineMs} ms for ${what}`, {
        facts,
        hint: '`heddle queues` shows waiting jobs, and `heddle doctor` checks the servers',
      })
    }
    await clock.wait(POLL_EVERY_MS, signal)
  }
}
