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
 * Commands in one data folder share one embedded server, and whoever started it stops it. It must not do so while another
 * command uses it, nor may another begin to use it while it stops. Each command therefore leaves a file with its process id
 * while it is in the folder, and whoever stops the server says so first. In the files is when the process was started: a pid
 * that was left by a power cut belongs to somebody else after it.
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
    await replaceFile(ownFile, identityText(pid)).catch((error: unknown) => {
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
      await replaceFile(stopping, identityText(pid))
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
  const stopping = parseIdentity(await readJson(join(dataDir, STOPPING)))
  // What was cut off, or left by a process that was killed, holds nobody up.
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
