import { type ChildProcess, spawn } from 'node:child_process'
import { open, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { HeddleError, PermanentError, RetryableError } from '@heddle/contracts'
import { type Logger, systemClock, within } from '@heddle/runtime'
import type { Account } from './account.js'
import { diskFull } from './data-folder.js'
import { errorCodeOf } from './files.js'
import { readPostmasterFile } from './postmaster-file.js'
import type { Programs } from './programs.js'
import { serverSettings, settingsArguments } from './settings.js'
import { startWatchdog, type Watchdog } from './watchdog.js'

/** Recovery after a crash replays up to a gigabyte of log, which takes long on a slow disk. */
const READY_TIMEOUT_MS = 120_000
const FAST_SHUTDOWN_MS = 20_000
const IMMEDIATE_SHUTDOWN_MS = 5_000
const POLL_MS = 10

export interface ServerOptions {
  dataDir: string
  /** The cluster's real path. */
  folder: string
  programs: Programs
  account: Account | null
  durable: boolean
  log: Logger
}

export interface Server {
  readonly pid: number
  /** Resolves when the server has ended for any reason. */
  readonly ended: Promise<void>
  /** A fast shutdown: disconnects all clients, writes a checkpoint, and ends. */
  stop(): Promise<void>
}

/** Another process used the port after it was chosen. */
export class PortTakenError extends Error {
  override name = 'PortTakenError'
}

/** Processes of a killed server have not ended yet, and hold its shared memory. */
export class MemoryHeldError extends Error {
  override name = 'MemoryHeldError'
}

/**
 * Starts Postgres and waits until it accepts connections.
 *
 * @throws PortTakenError, MemoryHeldError
 * @throws PermanentError CONFLICT for a damaged cluster
 * @throws RetryableError SERVICE_UNAVAILABLE if it does not start; the hint names its log
 */
export async function startServer(options: ServerOptions, port: number): Promise<Server> {
  const { folder, programs, account, durable, log } = options
  const logFile = await newLogFile(options.dataDir)
  const output = await open(logFile, 'a', 0o600)
  const child = spawn(programs.postgres, ['-D', folder, ...settingsArguments(serverSettings(port, durable))], {
    // In its own session: a Ctrl-C in the terminal must reach Heddle only, which stops Postgres after its services.
    detached: true,
    cwd: folder,
    env: { LC_ALL: 'C', TZ: 'UTC' },
    // To a file and not a pipe: Postgres must be able to write while its owner is busy or dead.
    stdio: ['ignore', output.fd, output.fd],
    ...account,
  })
  child.unref()
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  await output.close()
  const pid = child.pid
  if (pid === undefined) throw await startFailure(logFile, undefined)
  const watchdog = startWatchdog(pid, folder, account)
  const server: Server = { pid, ended, stop: () => stopServer(child, ended, watchdog) }
  void ended.then(() => watchdog.dismiss())

  try {
    await untilReady(folder, child)
  } catch (error) {
    await server.stop()
    throw error instanceof HeddleError ? error : await startFailure(logFile, error)
  }
  log.debug({ serverPid: pid, port }, 'embedded Postgres is ready')
  return server
}

async function untilReady(folder: string, child: ChildProcess): Promise<void> {
  for (let waitedMs = 0; waitedMs < READY_TIMEOUT_MS; waitedMs += POLL_MS) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`postgres ended with ${child.exitCode}`)
    const file = await readPostmasterFile(folder)
    if (file?.pid === child.pid && file?.ready) return
    await systemClock.wait(POLL_MS)
  }
  throw new RetryableError('SERVICE_UNAVAILABLE', `Postgres was not ready after ${READY_TIMEOUT_MS / 1000} s`, {
    hint: 'It may be recovering after a crash: start again, or read postgres.log in the data folder',
  })
}

async function stopServer(child: ChildProcess, ended: Promise<void>, watchdog: Watchdog): Promise<void> {
  child.ref()
  for (const [signal, waitMs] of [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
    ['SIGKILL', IMMEDIATE_SHUTDOWN_MS],
  ] as const) {
    if (child.exitCode !== null || child.signalCode !== null) break
    child.kill(signal)
    await within(ended, { timeoutMs: waitMs, late: () => {} })
  }
  await ended
  // Only now: if this process is killed during the stop, the watchdog must finish it.
  watchdog.dismiss()
}

/** Each start begins a new log and keeps the previous one, so that it cannot grow without limit. */
async function newLogFile(dataDir: string): Promise<string> {
  const path = join(dataDir, 'postgres.log')
  await rename(path, `${path}.1`).catch((error: unknown) => {
    if (errorCodeOf(error) !== 'ENOENT') throw error
  })
  return path
}

async function startFailure(logFile: string, cause: unknown): Promise<Error> {
  const lines = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n').slice(-20)
  const text = lines.join('\n')
  if (/Address already in use|could not bind/.test(text)) return new PortTakenError(text)
  if (/pre-existing shared memory block/.test(text)) return new MemoryHeldError(text)
  const reason = lines.findLast((line) => /FATAL|PANIC/.test(line)) ?? lines.at(-1) ?? ''
  if (/No space left on device|Disk quota exceeded/.test(text)) return diskFull(dirname(logFile), cause)
  if (
    /global\/pg_control|pg_filenode|invalid checkpoint|could not locate a valid checkpoint|invalid data in/.test(text)
  ) {
    return new PermanentError('CONFLICT', `The embedded database is damaged: ${reason}`, {
      hint: 'Restore the data folder from a backup, or move it away to start with an empty database',
      cause,
    })
  }
  return new RetryableError('SERVICE_UNAVAILABLE', `The embedded Postgres did not start: ${reason}`, {
    hint: `See ${logFile}, or set DATABASE_URL to a Postgres of your own`,
    cause,
  })
}
