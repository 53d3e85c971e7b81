import type { WakeStageName } from '@heddle/contracts'

/** The answer in a reply: an object as JSON, or bytes in a format that the receiver knows. */
export type Answer = string | Uint8Array

/** A thread for which a stage is woken after the current job. */
export interface NextJob {
  wake: WakeStageName
  projectId: string
  threadId: string
  /** The traces that cause it. Default: that of the job. */
  carrier?: string | undefined
}

/** The result of a handler. A replay that finds its work done must return the same next jobs, or the pipeline stops there. */
export type Outcome =
  | {
      kind: 'done'
      next: readonly NextJob[]
      /** The stored result, for a sender that accepts it within the reply. It may be omitted from the reply. */
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
