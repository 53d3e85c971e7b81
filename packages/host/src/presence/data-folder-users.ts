import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { RetryableError } from '@heddle/contracts'
import {
  identifyProcess,
  isAlive,
  makeFolder,
  ownIdentity,
  parseIdentity,
  readJson,
  replaceFile,
  unusableFolder,
} from '@heddle/embedded'
import { systemClock } from '@heddle/runtime'

/*
 * Commands in one data folder share one embedded server, and the command that started it stops it. It must not stop the server
 * while another command uses it, and no other command may begin to use a stopping server. Each command therefore has a file
 * with its process id in the folder, and a command that stops the server announces it first. The files also hold the start
 * time of the process, because after a power cut a pid may belong to another process.
 *
 *   a new command          1. writes its file              2. checks whether the server is being stopped
 *   the stopping command   1. writes the file "stopping"   2. checks for files of other commands
 *
 * Of two that do this at once, at least one sees the other: the new command then waits and starts again, or the stop is
 * delayed.
 */
const USERS = 'users'
const STOPPING = 'stopping'

const POLL_EVERY_MS = 50
/** Stopping a server takes seconds. Commands that use it may delay the stop by this time at most. */
const WAIT_MS_MAX = 60_000

export interface FolderUse {
  /** For a command that joined the server. */
  leave(): Promise<void>
  /**
   * For the command that started the server: closes it once no other command uses the folder, after a minute, or when the
   * signal is aborted.
   */
  leaveLast(options: {
    signal: AbortSignal
    onWait: (pids: readonly number[]) => void
    close: () => Promise<void>
  }): Promise<void>
}

/**
 * Registers this process in a data folder, which is created if missing.
 *
 * @throws PermanentError `FORBIDDEN` or `VALIDATION_ERROR` of the field `data` if the folder cannot be used
 * @throws RetryableError `TIMEOUT` if the server there has been stopping for a minute
 */
export async function enterFolder(dataDir: string, signal: AbortSignal, pid: number = process.pid): Promise<FolderUse> {
  await makeFolder(join(dataDir, USERS), dataDir)
  const ownFile = join(dataDir, USERS, String(pid))
  const leave = () => rm(ownFile, { force: true })
  for (let waitedMs = 0; waitedMs < WAIT_MS_MAX; waitedMs += POLL_EVERY_MS) {
    await replaceFile(ownFile, identityText(pid)).catch((error: unknown) => {
      throw unusableFolder(dataDir, error)
    })
    if (!(await isStopping(dataDir, pid)))
      return { leave, leaveLast: (options) => leaveLast(dataDir, pid, leave, options) }
    await leave()
    await systemClock.wait(POLL_EVERY_MS, signal)
  }
  throw new RetryableError('TIMEOUT', `the server in ${dataDir} has been stopping for ${WAIT_MS_MAX / 1_000} s`, {
    hint: 'Stop the process whose pid is in its file "stopping", then run this again.',
  })
}

async function leaveLast(
  dataDir: string,
  pid: number,
  leave: () => Promise<void>,
  { signal, onWait, close }: Parameters<FolderUse['leaveLast']>[0],
): Promise<void> {
  const stopping = join(dataDir, STOPPING)
  try {
    for (let waitedMs = 0; ; waitedMs += POLL_EVERY_MS) {
      await replaceFile(stopping, identityText(pid))
      const others = await otherUsers(dataDir, pid)
      if (others.length === 0 || waitedMs >= WAIT_MS_MAX || signal.aborted) break
      if (waitedMs === 0) onWait(others)
      await rm(stopping, { force: true })
      await systemClock.wait(POLL_EVERY_MS, signal).catch(() => undefined)
    }
    await close()
  } finally {
    await leave()
    await rm(stopping, { force: true })
  }
}

async function isStopping(dataDir: string, pid: number): Promise<boolean> {
  const stopping = parseIdentity(await readJson(join(dataDir, STOPPING)))
  // Incomplete files, and those of killed processes, are ignored.
  return stopping !== null && stopping.pid !== pid && isAlive(stopping)
}

async function otherUsers(dataDir: string, pid: number): Promise<number[]> {
  const names = (await readdir(join(dataDir, USERS))).filter((name) => /^\d+$/.test(name) && Number(name) !== pid)
  const living: number[] = []
  for (const name of names) {
    const path = join(dataDir, USERS, name)
    const user = parseIdentity(await readJson(path))
    if (user !== null && isAlive(user)) living.push(user.pid)
    else await rm(path, { force: true })
  }
  return living
}

function identityText(pid: number): string {
  return `${JSON.stringify(identifyProcess(pid) ?? ownIdentity())}\n`
}
