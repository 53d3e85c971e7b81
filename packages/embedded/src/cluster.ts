import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { lstat, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PermanentError } from '@heddle/contracts'
import type { Logger } from '@heddle/runtime'
import type { Account } from './account.js'
import { readIfPresent, replaceFile } from './files.js'
import { draftCluster } from './placement.js'
import type { Programs } from './programs.js'
import { settingsArguments } from './settings.js'

/** The release of Postgres whose data files this package reads and writes. */
const MAJOR_VERSION = '18'
export const ADMIN_ROLE = 'heddle_admin'
/** The role of the services: no superuser, and subject to row-level security. */
export const APP_ROLE = 'heddle_app'
export const DATABASE = 'heddle'
const PASSWORD = /^[0-9a-f]{48}$/

export interface ClusterOptions {
  dataDir: string
  clusterDir: string
  programs: Programs
  account: Account | null
  durable: boolean
  log: Logger
}

/**
 * Creates the cluster on the first start, and checks it on later ones.
 *
 * @returns the cluster's real path
 * @throws PermanentError CONFLICT if the folder holds something else, another version, or no password file
 */
export async function prepareCluster(options: ClusterOptions): Promise<string> {
  const { dataDir, clusterDir } = options
  if (!(await isPresent(clusterDir))) {
    await removeDrafts(dataDir)
    const password = await newPassword(dataDir)
    await createCluster(options, password)
    return await realpath(clusterDir)
  }
  await checkVersion(clusterDir)
  if ((await readPasswordFile(dataDir)) === null) throw noPassword(dataDir)
  return await realpath(clusterDir)
}

/**
 * The password of both roles. A file that a power cut left incomplete gets a new password: the owner of the folder owns the
 * database anyway. No server may run.
 */
export async function ensurePassword(options: ClusterOptions, folder: string): Promise<string> {
  const { dataDir, programs, account, durable, log } = options
  const known = await readPasswordFile(dataDir)
  if (known !== null && PASSWORD.test(known)) return known
  log.warn({ file: passwordFile(dataDir) }, 'the password file was damaged, and both roles get a new password')
  const password = randomBytes(24).toString('hex')
  const statements = [ADMIN_ROLE, APP_ROLE].map((role) => `ALTER ROLE ${role} PASSWORD '${password}'\n`).join('')
  await runStatements(statements, { programs, account, durable, folder }).catch((cause: unknown) => {
    throw new PermanentError('CONFLICT', `${passwordFile(dataDir)} is damaged, and no new password could be set`, {
      hint: 'Restore the file, or restore the data folder from a backup',
      cause,
    })
  })
  await replaceFile(passwordFile(dataDir), `${password}\n`, 0o600)
  return password
}

/**
 * The password in a data folder.
 *
 * @throws PermanentError CONFLICT if it is missing or damaged
 */
export async function readPassword(dataDir: string): Promise<string> {
  const password = await readPasswordFile(dataDir)
  if (password === null) throw noPassword(dataDir)
  if (PASSWORD.test(password)) return password
  throw new PermanentError('CONFLICT', `${passwordFile(dataDir)} is damaged, so the database cannot be joined`, {
    hint: 'Stop the process that runs the database: the next start creates a new password',
  })
}

function noPassword(dataDir: string): PermanentError {
  return new PermanentError(
    'CONFLICT',
    `${passwordFile(dataDir)} is missing, so the database beside it cannot be opened`,
    {
      hint: 'Restore the file (an empty one gets a new password), or choose another folder with --data',
    },
  )
}

/** Creates a cluster in a temporary folder and renames it when it is complete, so that a killed start leaves no partial one. */
async function createCluster(options: ClusterOptions, password: string): Promise<void> {
  const { programs, account, clusterDir, durable, log } = options
  const draft = await draftCluster(options.dataDir, account, log)
  try {
    await runProgram(programs.initdb, initdbArguments(draft.folder, durable), { account, cwd: draft.folder, input: '' })
    await writeFile(join(draft.folder, 'pg_hba.conf'), 'host all all 127.0.0.1/32 scram-sha-256\n')
    await runStatements(creationStatements(password), { programs, account, durable, folder: draft.folder })
    await draft.publish(clusterDir)
  } catch (error) {
    await draft.discard()
    throw error
  }
}

function initdbArguments(folder: string, durable: boolean): string[] {
  return [
    `--pgdata=${folder}`,
    `--username=${ADMIN_ROLE}`,
    // The server does not listen before the access rules have been replaced.
    '--auth=trust',
    '--encoding=UTF8',
    // Postgres's built-in collation is the same on every system, so that indexes stay valid after a system upgrade.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ]
}

async function runStatements(
  input: string,
  { programs, account, durable, folder }: Pick<ClusterOptions, 'programs' | 'account' | 'durable'> & { folder: string },
): Promise<void> {
  const settings = { exit_on_error: 'on', log_min_error_statement: 'panic', ...(!durable && { fsync: 'off' }) }
  const parameters = ['--single', '-D', folder, ...settingsArguments(settings), 'postgres']
  await runProgram(programs.postgres, parameters, { account, cwd: folder, input })
}

/** One statement per line, for the server's single-user mode, which needs neither a port nor a client. */
function creationStatements(password: string): string {
  return [
    `ALTER ROLE ${ADMIN_ROLE} PASSWORD '${password}'`,
    `CREATE ROLE ${APP_ROLE} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD '${password}'`,
    `CREATE DATABASE ${DATABASE} OWNER ${ADMIN_ROLE}`,
    '',
  ].join('\n')
}

interface ProgramOptions {
  account: Account | null
  cwd: string
  input: string
}

function runProgram(program: string, parameters: string[], { account, cwd, input }: ProgramOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, parameters, { cwd, env: { LC_ALL: 'C', TZ: 'UTC' }, stdio: 'pipe', ...account })
    let output = ''
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-4_000)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('error', reject)
    // A program that fails at once closes its input early; its exit code reports the failure.
    child.stdin.on('error', () => {})
    child.on('close', (code) => {
      if (code === 0) return resolve()
      const failure = new Error(`${program} ended with ${code}: ${output.trim()}`)
      reject(
        new PermanentError('SERVICE_UNAVAILABLE', 'The embedded Postgres could not create its data folder', {
          hint: 'Check free space and permissions of the data folder, or set DATABASE_URL',
          cause: failure,
        }),
      )
    })
    child.stdin.end(input)
  })
}

async function isPresent(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

async function checkVersion(clusterDir: string): Promise<void> {
  const version = (await readIfPresent(join(clusterDir, 'PG_VERSION')))?.trim()
  if (version === MAJOR_VERSION) return
  if (version === undefined || version === '') {
    throw new PermanentError('CONFLICT', `${clusterDir} is not a Postgres data folder, or it is damaged`, {
      hint: 'Restore it from a backup, move it away to start with an empty database, or choose another folder with --data',
    })
  }
  throw new PermanentError(
    'CONFLICT',
    `${clusterDir} belongs to Postgres ${version}, but this is Postgres ${MAJOR_VERSION}`,
    {
      hint: `Copy its data with pg_dump of Postgres ${version}, or choose another folder with --data`,
    },
  )
}

async function removeDrafts(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith('postgres.new-')) continue
    await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Reuses the password that a killed first start may have left. */
async function newPassword(dataDir: string): Promise<string> {
  const left = await readPasswordFile(dataDir)
  if (left !== null && PASSWORD.test(left)) return left
  const password = randomBytes(24).toString('hex')
  await replaceFile(passwordFile(dataDir), `${password}\n`, 0o600)
  return password
}

async function readPasswordFile(dataDir: string): Promise<string | null> {
  return (await readIfPresent(passwordFile(dataDir)))?.trim() ?? null
}

function passwordFile(dataDir: string): string {
  return join(dataDir, 'password')
}
