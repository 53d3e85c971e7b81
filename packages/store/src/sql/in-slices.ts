import { setImmediate } from 'node:timers/promises'
import type { Steps } from '@heddle/core'

/** How long a computation may hold the process before others have their turn, in milliseconds. */
const SLICE_MS = 5

/** Carries a computation out, and lets others have their turn at its pauses. */
export async function inSlices<Result>(steps: Steps<Result>): Promise<Result> {
  let since = performance.now()
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() - since < SLICE_MS) continue
    await setImmediate()
    since = performance.now()
  }
}
