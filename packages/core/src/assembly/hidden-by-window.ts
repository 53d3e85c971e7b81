/** Messages of one thread that a context could show if there were no rolling window and no clear. */
export interface HiddenMessages {
  readonly thread: string
  readonly agent: string
  /** Messages older than the rolling window and after the last clear. */
  readonly outsideWindow: number
  readonly beforeClear: number
  /** All messages of the thread that a context could show, the hidden ones included. */
  readonly imported: number
  /** Seconds; null without a rolling window. */
  readonly rollingWindow: number | null
  /** Which level sets the rolling window. An agent's setting overrides the file, the environment and the defaults. */
  readonly windowOf: 'agent' | 'thread' | 'request'
}
