/** The answer of a hook, before it has the form of its agent. */
export interface HookAnswer {
  /** In place of an output that is too long; null to leave it. */
  readonly stub: {
    readonly text: string
    /** The output with the stub as its text, in the shape of its tool. */
    readonly output: unknown
  } | null
  /** Of the recorded result of a call. */
  readonly reference: string | null
  /** The text that a session needs after a compaction; may be empty. */
  readonly text: string
}

export const NO_CHANGE: HookAnswer = { stub: null, reference: null, text: '' }
