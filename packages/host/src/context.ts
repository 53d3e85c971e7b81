/** The environment of a process, passed in so that no other module reads `process`. */
export interface HostContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborted when the process is asked to stop. */
  readonly signal: AbortSignal
  /** Shows the user what the program waits for. */
  readonly printer: { note(text: string): void }
  /** Whether a new database may be created in an empty folder. */
  mayMakeData(): boolean
}
