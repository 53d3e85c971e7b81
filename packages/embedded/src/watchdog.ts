import { spawn } from 'node:child_process'
import type { Account } from './account.js'

/**
 * Waits for a line that says that all is well, or for the end of its input, which comes when the process that holds the
 * other end is gone, however it died. Then it stops the server, unless the cluster has another one by now. Where the cluster
 * itself has been removed, its server still runs.
 */
const SCRIPT = `
if read -r word; then exit 0; fi
if read -r pid < "$2/postmaster.pid"; then [ "$pid" = "$1" ] || exit 0; fi
kill -INT "$1" || exit 0
for second in 1 2 3 4 5 6 7 8 9 10; do
  for moment in 1 2 3 4 5 6 7 8 9 10; do
    kill -0 "$1" || exit 0
    sleep 0.1
  done
done
kill -QUIT "$1"
`

export interface Watchdog {
  /** Lets it go without touching the server. */
  dismiss(): void
}

/**
 * Starts a guard of a few hundred kilobytes that outlives this process just long enough to stop its server: `kill -9` runs no
 * handlers, and Postgres runs on when its parent dies.
 */
export function startWatchdog(serverPid: number, folder: string, account: Account | null): Watchdog {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'heddle-watchdog', String(serverPid), folder], {
    // In a session of its own: a Ctrl-C in the terminal goes to the whole foreground group.
    detached: true,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
    ...account,
  })
  child.on('error', () => {})
  child.stdin.on('error', () => {})
  child.unref()
  // Neither it nor its pipe keeps a process running that has nothing else to do.
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
  return { dismiss: () => child.stdin.end('well\n') }
}
