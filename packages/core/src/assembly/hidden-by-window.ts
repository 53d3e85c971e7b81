/** Messages of one thread that a context could show if there were no rolling window and no clear. */
export interface HiddenMessages {
  readonly thread: string
  readonly agent: string
  /** Older than the rolling window, and after the last clear. */
  readonly outsideWindow: number
  readonly beforeClear: number
  /** All messages of the thread that a context could show, the hidden ones included. */
  readonly imported: number
  /** Seconds; null without a rolling window. */
  readonly rollingWindow: number | null
  /** Whose setting the rolling window is. What the file, the environment and the defaults say, an agent can say otherwise. */
  readonly windowOf: 'agent' | 'thread' | 'request'
}
