/** How often it is looked whether the parent is still there; asking costs a system call. */
const INTERVAL_MS = 500

/** What it needs of this process. */
export interface Orphan {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly ppid: number
}

/**
 * Tells when `npx heddle` was asked to stop. npx runs a command in a shell, and hands a SIGTERM to that shell alone: the shell
 * ends, npx ends, and the command would go on for ever with its port and its folder, though whoever stopped npx, such as a
 * supervisor or a script, believes it gone.
 *
 * Only a command that npx itself started: what was started otherwise may outlive its parent on purpose.
 *
 * @param stop called once, when the shell has ended
 * @returns a function that stops looking
 */
export function onNpxEnded(self: Orphan, stop: () => void): () => void {
  if (!isRunByNpx(self.env)) return () => undefined
  const shell = self.ppid
  const timer = setInterval(() => {
    if (self.ppid === shell) return
    clearInterval(timer)
    stop()
  }, INTERVAL_MS).unref()
  return () => clearInterval(timer)
}

/** Variables are inherited: the script they name must be this program, not one that started it. */
export function isRunByNpx({ npm_lifecycle_event: event, npm_lifecycle_script: script = '' }: Orphan['env']): boolean {
  return event === 'npx' && /^(["']?)heddle\1(?:\s|$)/.test(script)
}
