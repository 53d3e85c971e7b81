import { ConflictError, RetryableError } from '@heddle/contracts'
import type { Logger } from '@heddle/runtime'
import { systemClock } from '@heddle/runtime'
import { findClusterServer } from './cluster-processes.js'
import { markStale, readPostmasterFile } from './postmaster-file.js'
import { identifyProcess, isAlive, type ProcessIdentity } from './process-identity.js'

const FAST_SHUTDOWN_MS = 10_000
const IMMEDIATE_SHUTDOWN_MS = 5_000
const POLL_MS = 20

/**
 * Stops the server that a killed owner left running in this cluster. It is not adopted, because its settings and port may be
 * those of another version, and its watchdog may be stopping it at this moment.
 *
 * After a crash or on a full disk `postmaster.pid` may be incomplete. Postgres would refuse to start with such a file; here
 * the running processes decide.
 *
 * @param folder the cluster's real path
 * @throws ConflictError if a Postgres that Heddle has not started uses the cluster
 * @throws RetryableError SERVICE_UNAVAILABLE if it does not stop
 */
export async function stopOrphan(folder: string, log: Logger): Promise<void> {
  const file = await readPostmasterFile(folder)
  if (file === null) return
  const running = findClusterServer(folder)
  const server = running === null ? null : identifyProcess(running.pid)
  if (running === null || server === null) {
    if (file.pid === null) log.warn({ folder }, 'postmaster.pid was cut off, and no server runs: it is removed')
    return markStale(folder)
  }
  if (!running.isOwn) throw foreignServer(folder, running.pid)

  log.warn({ serverPid: running.pid }, 'stopping a Postgres that outlived its owner')
  await stopProcess(server)
  // A server that was killed before it could stop leaves its file.
  if ((await readPostmasterFile(folder)) !== null) await markStale(folder)
}

function foreignServer(folder: string, pid: number): ConflictError {
  return new ConflictError(`process ${pid}, a Postgres that Heddle has not started, uses ${folder}`, {
    field: 'data',
    received: folder,
    hint: `Stop process ${pid} (pg_ctl stop -D ${folder}) and run this again, set DATABASE_URL to use that server, or choose another folder with --data.`,
  })
}

/** Stops a server that is not a child of this process. No committed data is lost either way; a fast shutdown needs no recovery. */
async function stopProcess(server: ProcessIdentity): Promise<void> {
  send(server.pid, 'SIGINT')
  if (await ends(server, FAST_SHUTDOWN_MS)) return
  send(server.pid, 'SIGQUIT')
  if (await ends(server, IMMEDIATE_SHUTDOWN_MS)) return
  throw new RetryableError(
    'SERVICE_UNAVAILABLE',
    `A Postgres left by an earlier run (pid ${server.pid}) does not stop`,
    {
      hint: `End process ${server.pid}, then start again`,
    },
  )
}

async function ends(server: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += POLL_MS) {
    if (!isAlive(server)) return true
    await systemClock.wait(POLL_MS)
  }
  return !isAlive(server)
}

function send(pid: number, signal: 'SIGINT' | 'SIGQUIT'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended meanwhile.
  }
}
