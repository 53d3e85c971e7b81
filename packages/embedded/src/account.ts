import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { PermanentError } from '@heddle/contracts'
import { errorCodeOf } from './files.js'

const run = promisify(execFile)

/** The system user that Postgres runs as, if not the user of this process. */
export interface Account {
  uid: number
  gid: number
}

/** The user that Heddle creates, as root, on a machine that has no `postgres` user. */
const CREATED_USER = 'heddle'

/**
 * Postgres refuses to run as root. Started by root, it runs as the owner of the existing cluster, otherwise as the system's
 * `postgres` user, otherwise as a system user `heddle`, which is created.
 *
 * @returns null if this process is not root: then Postgres runs as the same user
 * @throws PermanentError FORBIDDEN if the cluster belongs to a user that Postgres cannot run as, or no user can be created
 */
export async function chooseAccount(clusterDir: string): Promise<Account | null> {
  const owner = await ownerOf(clusterDir)
  const uid = process.getuid?.()
  if (uid !== 0) {
    if (owner !== null && owner.uid !== uid) throw wrongOwner(clusterDir, owner.uid, String(uid))
    return null
  }
  if (owner !== null) {
    if (owner.uid === 0) throw wrongOwner(clusterDir, 0, 'the "postgres" user')
    return owner
  }
  return (await lookUp('postgres')) ?? (await lookUp(CREATED_USER)) ?? (await createUser())
}

async function ownerOf(path: string): Promise<Account | null> {
  try {
    const { uid, gid } = await stat(path)
    return { uid, gid }
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null
    throw error
  }
}

async function lookUp(name: string): Promise<Account | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    return null
  }
}

async function createUser(): Promise<Account> {
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', CREATED_USER])
  } catch (error) {
    // Another process that starts at the same moment may have created it.
    const account = await lookUp(CREATED_USER)
    if (account !== null) return account
    throw new PermanentError('FORBIDDEN', 'Postgres cannot run as root, and no other user could be created for it', {
      hint: 'Run heddle as an ordinary user, create a system user named "postgres", or set DATABASE_URL',
      cause: error,
    })
  }
  const account = await lookUp(CREATED_USER)
  if (account === null)
    throw new PermanentError('INTERNAL', `The user "${CREATED_USER}" was created but cannot be found`)
  return account
}

function wrongOwner(clusterDir: string, uid: number, expected: string): PermanentError {
  return new PermanentError('FORBIDDEN', `${clusterDir} belongs to user ${uid}, so Postgres cannot run in it`, {
    hint: `Change its owner to ${expected} (chown -R), start heddle as its owner, or choose another folder with --data`,
  })
}
