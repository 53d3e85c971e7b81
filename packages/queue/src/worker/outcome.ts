import type { WakeStageName } from '@heddle/contracts'

/** What a reply may bring: an object as JSON, or bytes that its reader knows to open. */
export type Answer = string | Uint8Array

/** A thread that a stage shall look at, after the job at hand. */
export interface NextJob {
  wake: WakeStageName
  projectId: string
  threadId: string
}

/** What a handler did. A replay that finds its work done returns the same next jobs, or the pipeline stops there. */
export type Outcome =
  | {
      kind: 'done'
      next: readonly NextJob[]
      /** What stands in the store now, for a sender that takes it with the reply. It may be left out on the way. */
      answer?: Answer | undefined
    }
  | { kind: 'skipped'; reason: string; next: readonly NextJob[] }

export function done(next: readonly NextJob[] = [], answer?: Answer): Outcome {
  return { kind: 'done', next, answer }
}

/** @param reason an expected non-event: `thread is gone`, `cursor is at the head` */
export function skipped(reason: string, next: readonly NextJob[] = []): Outcome {
  return { kind: 'skipped', reason, next }
}
