/** Milliseconds between checks of the parent process; each costs one system call. */
const INTERVAL_MS = 500

/** The properties of this process that are read. */
export interface Orphan {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly ppid: number
}

/**
 * Calls `stop` when `npx heddle` has been stopped. npx runs a command in a shell and forwards SIGTERM to that shell alone: shell
 * and npx exit, and the command would keep its port and its folder for ever, although the supervisor or script that stopped npx
 * assumes that it has ended.
 *
 * It applies only to a command that npx itself started: others may outlive their parent on purpose.
 *
 * @param stop called once, when the shell has ended
 * @returns a function that ends the checks
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
