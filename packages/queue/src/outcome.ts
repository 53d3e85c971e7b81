import type { WakeStageName } from '@heddle/contracts'

/** A thread that a stage shall look at, after the job at hand. */
export interface NextJob {
  wake: WakeStageName
  projectId: string
  threadId: string
}

/** What a handler did. A replay that finds its work done returns the same next jobs, or the pipeline stops there. */
export type Outcome =
  | { kind: 'done'; next: readonly NextJob[] }
  | { kind: 'skipped'; reason: string; next: readonly NextJob[] }

export function done(next: readonly NextJob[] = []): Outcome {
  return { kind: 'done', next }
}

/** @param reason an expected non-event: `thread is gone`, `cursor is at the head` */
export function skipped(reason: string, next: readonly NextJob[] = []): Outcome {
  return { kind: 'skipped', reason, next }
}
