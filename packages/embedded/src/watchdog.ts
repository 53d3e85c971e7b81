import { spawn } from 'node:child_process'
import type { Account } from './account.js'

/**
 * Ends after a line of input. At the end of its input, which means that its owner has died, it stops the server, unless the
 * cluster has another one by now. The server also runs on, and is stopped, if the cluster's files were removed.
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
  /** Ends the watchdog without stopping the server. */
  dismiss(): void
}

/**
 * Starts a process of a few hundred kilobytes that stops the server after this process has died: `kill -9` runs no handlers,
 * and Postgres continues when its parent dies.
 */
export function startWatchdog(serverPid: number, folder: string, account: Account | null): Watchdog {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'heddle-watchdog', String(serverPid), folder], {
    // In its own session: a Ctrl-C in the terminal goes to the whole foreground group.
    detached: true,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
    ...account,
  })
  child.on('error', () => {})
  child.stdin.on('error', () => {})
  child.unref()
  // Neither the watchdog nor its pipe keeps this process alive.
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
  return { dismiss: () => child.stdin.end('well\n') }
}
