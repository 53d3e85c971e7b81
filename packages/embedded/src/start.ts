import { join, resolve } from 'node:path'
import { type PermanentError, RetryableError, validationError } from '@heddle/contracts'
import { type Logger, systemClock } from '@heddle/runtime'
import { chooseAccount } from './account.js'
import { ADMIN_ROLE, APP_ROLE, DATABASE, ensurePassword, prepareCluster, readPassword } from './cluster.js'
import { unusableFolder } from './data-folder.js'
import { clusterDirOf } from './holds-cluster.js'
import { stopOrphan } from './orphan.js'
import { acquireOwnership, type OwnerLock } from './owner-lock.js'
import { prepareDataDir } from './placement.js'
import { freePort, isPortFree } from './ports.js'
import { identifyProcess, type ProcessIdentity } from './process-identity.js'
import { findPrograms } from './programs.js'
import { MemoryHeldError, PortTakenError, type Server, startServer } from './server.js'
import { readServerFile, writeServerFile } from './server-file.js'
import { supervise } from './supervise.js'

/** Longer than a first start and a recovery together. */
const JOIN_TIMEOUT_MS = 150_000
const JOIN_POLL_MS = 50
const PORT_TRIES_MAX = 5
/** Children of a killed server end within milliseconds, on a busy machine within seconds. */
const MEMORY_WAIT_MS = 10_000
const MEMORY_POLL_MS = 250

export interface EmbeddedPostgresOptions {
  /** The folder with `postgres/`, `password`, `server.json` and `postgres.log`. Created if missing. */
  dataDir: string
  /** The port to listen on; default that of the last run, otherwise any free one. */
  port?: number
  /** False for disposable data, such as a test's, which a power cut may destroy: several times faster. Default true. */
  durable?: boolean
  log: Logger
}

export interface EmbeddedPostgres {
  /** For services: role `heddle_app`, database `heddle`. */
  readonly url: string
  /** For migrations and for creating databases: a superuser, same database. */
  readonly adminUrl: string
  readonly port: number
  /** False if the server belongs to another running process, which this one has joined. */
  readonly owned: boolean
  /** Stops the server and waits until it has ended; does not stop a server that was joined. */
  stop(): Promise<void>
}

/**
 * Runs a Postgres that needs no installation, listening on the loopback address only.
 *
 * One process owns a data folder. Others that start there while it runs join its server; if the owner is killed, a watchdog
 * stops the server, and the next start recovers all committed data. A server that dies while its owner runs is restarted on
 * the same port.
 *
 * @throws PermanentError SERVICE_UNAVAILABLE if there is no Postgres for this platform
 * @throws PermanentError VALIDATION_ERROR if the given port is in use, or the path cannot be a data folder
 * @throws PermanentError CONFLICT if the folder holds something else, FORBIDDEN without permission for it
 * @throws RetryableError SERVICE_UNAVAILABLE if the server does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir)
  try {
    const clusterDir = clusterDirOf(dataDir)
    const account = await chooseAccount(clusterDir)
    await prepareDataDir(dataDir, account)
    for (let waitedMs = 0; waitedMs < JOIN_TIMEOUT_MS; waitedMs += JOIN_POLL_MS) {
      const ownership = await acquireOwnership(dataDir)
      if ('lock' in ownership) return await startOwned({ ...options, dataDir }, ownership.lock)
      const joined = await tryJoin(dataDir, ownership.heldBy, options.port)
      if (joined !== null) return joined
      await systemClock.wait(JOIN_POLL_MS)
    }
  } catch (error) {
    throw unusableFolder(dataDir, error)
  }
  throw new RetryableError('SERVICE_UNAVAILABLE', `Another process uses ${dataDir}, but its Postgres does not start`, {
    hint: 'Stop that process, or choose another folder with --data',
  })
}

async function startOwned(options: EmbeddedPostgresOptions, lock: OwnerLock): Promise<EmbeddedPostgres> {
  const { dataDir, log, durable = true } = options
  const clusterDir = join(dataDir, 'postgres')
  try {
    const account = await chooseAccount(clusterDir)
    const programs = await findPrograms(account)
    const cluster = { dataDir, clusterDir, programs, account, durable, log }
    const folder = await prepareCluster(cluster)
    await stopOrphan(folder, log)
    const password = await ensurePassword(cluster, folder)
    const launch = (port: number) => startServer({ dataDir, folder, programs, account, durable, log }, port)
    const relaunch = async (port: number) => {
      // A server that died on a full disk may have left an incomplete file.
      await stopOrphan(folder, log)
      return await launch(port)
    }
    const { server, port } = await startOnSomePort(options, launch)
    const announce = (pid: number | null) => writeServerFile(dataDir, { pid, port, owner: lock.owner })
    await announce(server.pid)
    const supervised = supervise({ server, launch: () => relaunch(port), announce, log })
    return {
      ...addresses(port, password),
      owned: true,
      async stop() {
        await supervised.stop()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function startOnSomePort(
  options: EmbeddedPostgresOptions,
  launch: (port: number) => Promise<Server>,
): Promise<{ server: Server; port: number }> {
  if (options.port !== undefined && !(await isPortFree(options.port))) throw portInUse(options.port)
  for (let tries = 1; ; tries++) {
    const port = options.port ?? (await choosePort(options.dataDir))
    try {
      return { server: await launchWhenFree(launch, port), port }
    } catch (error) {
      if (!(error instanceof PortTakenError)) throw error
      if (options.port !== undefined || tries === PORT_TRIES_MAX) throw portInUse(port)
    }
  }
}

async function launchWhenFree(launch: (port: number) => Promise<Server>, port: number): Promise<Server> {
  for (let waitedMs = 0; ; waitedMs += MEMORY_POLL_MS) {
    try {
      return await launch(port)
    } catch (error) {
      if (!(error instanceof MemoryHeldError)) throw error
      if (waitedMs >= MEMORY_WAIT_MS) throw memoryHeld(error)
    }
    await systemClock.wait(MEMORY_POLL_MS)
  }
}

function memoryHeld(cause: Error): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', 'Processes of a Postgres that was killed still hold its memory', {
    hint: 'End the processes whose names begin with "postgres: ", then start again',
    cause,
  })
}

/** The port of the last run if it is free, so that configured addresses stay valid. */
async function choosePort(dataDir: string): Promise<number> {
  const last = (await readServerFile(dataDir))?.port
  return last !== undefined && (await isPortFree(last)) ? last : freePort()
}

/** @returns null while the owner's server is not ready */
async function tryJoin(
  dataDir: string,
  owner: ProcessIdentity,
  port: number | undefined,
): Promise<EmbeddedPostgres | null> {
  const file = await readServerFile(dataDir)
  // A file of an earlier owner may name a port that another process uses now.
  if (file === null || file.pid === null || file.owner?.startedAt !== owner.startedAt) return null
  if (file.owner.pid !== owner.pid || identifyProcess(file.pid) === null) return null
  if (port !== undefined && port !== file.port) {
    const hint = `Omit the port to use that server, or stop process ${owner.pid}`
    throw validationError('port', `the Postgres of ${dataDir} already runs on port ${file.port}`, port, hint)
  }
  return { ...addresses(file.port, await readPassword(dataDir)), owned: false, stop: async () => {} }
}

function addresses(port: number, password: string): { url: string; adminUrl: string; port: number } {
  const address = (role: string) => `postgres://${role}:${password}@127.0.0.1:${port}/${DATABASE}`
  return { url: address(APP_ROLE), adminUrl: address(ADMIN_ROLE), port }
}

function portInUse(port: number): PermanentError {
  return validationError('port', 'is in use by another process', port, 'Choose another port, or omit it')
}
