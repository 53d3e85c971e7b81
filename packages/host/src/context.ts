/** What a process gives to what is opened in it: nothing of the process is reached for around it. */
export interface HostContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborted when the process is asked to stop. */
  readonly signal: AbortSignal
  /** Tells whoever watches what is waited for. */
  readonly printer: { note(text: string): void }
  /** Whether the data of a folder that holds none may be made. */
  mayMakeData(): boolean
}
