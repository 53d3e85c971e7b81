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
/** The role that services connect as: neither superuser nor above row-level security. */
export const APP_ROLE = 'heddle_app'
export const DATABASE = 'heddle'

export interface ClusterOptions {
  dataDir: string
  clusterDir: string
  programs: Programs
  account: Account | null
  durable: boolean
  log: Logger
}

/**
 * Makes sure that there is a cluster, creating it on the first start.
 *
 * @returns the password of both roles and the cluster's real path
 * @throws PermanentError CONFLICT when the folder holds something else, another version, or no password to it
 */
export async function prepareCluster(options: ClusterOptions): Promise<{ password: string; folder: string }> {
  const { dataDir, clusterDir } = options
  if (!(await isPresent(clusterDir))) {
    await removeDrafts(dataDir)
    const password = await newPassword(dataDir)
    await createCluster(options, password)
    return { password, folder: await realpath(clusterDir) }
  }
  await checkVersion(clusterDir)
  return { password: await readPassword(dataDir), folder: await realpath(clusterDir) }
}

/**
 * The password that the owner of a data folder has chosen.
 *
 * @throws PermanentError CONFLICT when it is missing
 */
export async function readPassword(dataDir: string): Promise<string> {
  const password = (await readIfPresent(passwordFile(dataDir)))?.trim()
  if (password !== undefined && password !== '') return password
  throw new PermanentError(
    'CONFLICT',
    `${passwordFile(dataDir)} is missing, so the database beside it cannot be opened`,
    {
      hint: 'Bring the file back, or choose another folder with --data',
    },
  )
}

/** Creates a cluster beside its final place and moves it there when it is whole: a start that is killed leaves no half of one. */
async function createCluster(options: ClusterOptions, password: string): Promise<void> {
  const { programs, account, clusterDir, durable, log } = options
  const draft = await draftCluster(options.dataDir, account, log)
  try {
    await runProgram(programs.initdb, initdbArguments(draft.folder, durable), { account, cwd: draft.folder, input: '' })
    await writeFile(join(draft.folder, 'pg_hba.conf'), 'host all all 127.0.0.1/32 scram-sha-256\n')
    const settings = { exit_on_error: 'on', log_min_error_statement: 'panic', ...(!durable && { fsync: 'off' }) }
    await runProgram(programs.postgres, ['--single', '-D', draft.folder, ...settingsArguments(settings), 'postgres'], {
      account,
      cwd: draft.folder,
      input: creationStatements(password),
    })
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
    // Nothing listens until the access rules have been replaced by ours.
    '--auth=trust',
    '--encoding=UTF8',
    // Postgres's own rules of characters: the same on every system, so that an index outlives a system upgrade.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ]
}

/** One statement a line, for the server's single-user mode, which needs neither a port nor a client. */
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
    // A program that fails at once closes its input early; its exit code says why.
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
    throw new PermanentError('CONFLICT', `${clusterDir} is not a Postgres data folder, or a damaged one`, {
      hint: 'Restore it from a backup, move it away to start anew, or choose another folder with --data',
    })
  }
  throw new PermanentError('CONFLICT', `${clusterDir} belongs to Postgres ${version}, and this is ${MAJOR_VERSION}`, {
    hint: `Copy its data with pg_dump of Postgres ${version}, or choose another folder with --data`,
  })
}

async function removeDrafts(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith('postgres.new-')) continue
    await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 5 })
  }
}

/** A first start that was killed may have left one, which serves as well. */
async function newPassword(dataDir: string): Promise<string> {
  const left = (await readIfPresent(passwordFile(dataDir)))?.trim()
  if (left !== undefined && /^[0-9a-f]{48}$/.test(left)) return left
  const password = randomBytes(24).toString('hex')
  await replaceFile(passwordFile(dataDir), `${password}\n`, 0o600)
  return password
}

function passwordFile(dataDir: string): string {
  return join(dataDir, 'password')
}
