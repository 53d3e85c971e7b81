import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RetryableError } from '@heddle/contracts'
import { makeFolder, unusableFolder } from '@heddle/embedded'
import { systemClock } from '@heddle/runtime'

/*
 * Commands in one data folder share one embedded server, and whoever started it stops it. It must not do so while another
 * command uses it, nor may another begin to use it while it stops. Each command therefore leaves a file with its process id
 * while it is in the folder, and whoever stops the server says so first:
 *
 *   a command      1. leaves its file      2. looks whether somebody is stopping the server
 *   who stops it   1. says so              2. looks whether another command's file is there
 *
 * Of two that do this at once, at least one sees the other: the command then waits and starts anew, or the stop is put off.
 */
const USERS = 'users'
const STOPPING = 'stopping'

const LOOK_EVERY_MS = 50
/** Stopping a server takes seconds; a command that uses it may take this long, then the server stops all the same. */
const WAIT_MS_MAX = 60_000

export interface Stay {
  /** For a command that joined the server. */
  leave(): Promise<void>
  /**
   * For the command that started the server: closes it once no other command is in the folder, or after a minute, or as soon
   * as it is asked to stop.
   */
  leaveLast(options: {
    signal: AbortSignal
    onWait: (pids: readonly number[]) => void
    close: () => Promise<void>
  }): Promise<void>
}

/**
 * Announces this process in a data folder, which is created if it is not there.
 *
 * @throws PermanentError `FORBIDDEN` or `VALIDATION_ERROR` of the field `data` where the folder cannot be used
 * @throws RetryableError `TIMEOUT` where the server there has been stopping for a minute
 */
export async function enterFolder(dataDir: string, signal: AbortSignal, pid: number = process.pid): Promise<Stay> {
  await makeFolder(join(dataDir, USERS), dataDir)
  const ownFile = join(dataDir, USERS, String(pid))
  const leave = () => rm(ownFile, { force: true })
  for (let waitedMs = 0; waitedMs < WAIT_MS_MAX; waitedMs += LOOK_EVERY_MS) {
    await writeFile(ownFile, '').catch((error: unknown) => {
      throw unusableFolder(dataDir, error)
    })
    if (!(await isStopping(dataDir, pid)))
      return { leave, leaveLast: (options) => leaveLast(dataDir, pid, leave, options) }
    await leave()
    await systemClock.wait(LOOK_EVERY_MS, signal)
  }
  throw new RetryableError('TIMEOUT', `the server in ${dataDir} has been stopping for ${WAIT_MS_MAX / 1_000} s`, {
    hint: 'Stop the process that its file "stopping" names, then run this again.',
  })
}

async function leaveLast(
  dataDir: string,
  pid: number,
  leave: () => Promise<void>,
  { signal, onWait, close }: Parameters<Stay['leaveLast']>[0],
): Promise<void> {
  const stopping = join(dataDir, STOPPING)
  try {
    for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
      await writeFile(stopping, String(pid))
      const others = await otherUsers(dataDir, pid)
      if (others.length === 0 || waitedMs >= WAIT_MS_MAX || signal.aborted) break
      if (waitedMs === 0) onWait(others)
      await rm(stopping, { force: true })
      await systemClock.wait(LOOK_EVERY_MS, signal).catch(() => undefined)
    }
    await close()
  } finally {
    await leave()
    await rm(stopping, { force: true })
  }
}

async function isStopping(dataDir: string, pid: number): Promise<boolean> {
  const text = await readFile(join(dataDir, STOPPING), 'utf8').catch(() => '')
  // Empty while it is being written. The word of a process that was killed holds nobody up.
  return text !== '' && Number(text) !== pid && isAlive(Number(text))
}

async function otherUsers(dataDir: string, pid: number): Promise<number[]> {
  const others = (await readdir(join(dataDir, USERS))).map(Number).filter((user) => user > 0 && user !== pid)
  for (const user of others) {
    if (!isAlive(user)) await rm(join(dataDir, USERS, String(user)), { force: true })
  }
  return others.filter(isAlive)
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's process lives as well.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
