import { randomUUID } from 'node:crypto'
import { chmod, chown, cp, mkdir, realpath, rename, rm, stat, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Logger } from '@heddle/runtime'
import type { Account } from './account.js'
import { makeFolder } from './data-folder.js'

/*
 * Started by root, Postgres runs as another user, which may have no access to the folder of root: `/root` is closed to all
 * others. Heddle does not change its permissions, and puts the files of that user elsewhere.
 */
const REACHABLE_HOME = '/var/lib/heddle'

/** Creates the data folder, and allows Postgres's user, if it is another one, to pass through it (not to list it). */
export async function prepareDataDir(dataDir: string, account: Account | null): Promise<void> {
  await makeFolder(dataDir, dataDir)
  if (account === null) return
  const { mode } = await stat(dataDir)
  if ((mode & 0o011) !== 0o011) await chmod(dataDir, (mode & 0o7777) | 0o011)
}

/**
 * The empty folder for a new cluster, owned by Postgres's user. Usually inside of the data folder; if Postgres's user has no
 * access to it, in `/var/lib/heddle`, and `publish` creates a link to it in the data folder.
 */
export async function draftCluster(
  dataDir: string,
  account: Account | null,
  log: Logger,
): Promise<{ folder: string; publish: (clusterDir: string) => Promise<void>; discard: () => Promise<void> }> {
  const reachable = account === null || (await canReach(account, dataDir))
  const home = reachable ? dataDir : join(REACHABLE_HOME, 'clusters')
  if (!reachable) await mkdir(home, { recursive: true, mode: 0o755 })
  const folder = join(home, `postgres.new-${randomUUID()}`)
  await mkdir(folder, { mode: 0o700 })
  if (account !== null) await chown(folder, account.uid, account.gid)
  return {
    folder,
    async publish(clusterDir) {
      if (reachable) return rename(folder, clusterDir)
      const place = join(home, randomUUID())
      await rename(folder, place)
      await symlink(place, clusterDir)
      log.warn(
        { place },
        'the user that Postgres runs as has no access to the data folder: the data is stored elsewhere, with a link in the data folder',
      )
    },
    discard: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** The folder of Postgres's programs, or a copy of it that Postgres's user can reach. */
export async function reachablePrograms(folder: string, version: string, account: Account | null): Promise<string> {
  if (account === null || (await canReach(account, folder))) return folder
  const copy = join(REACHABLE_HOME, `postgres-${version}`)
  if (await exists(copy)) return copy
  const draft = `${copy}.${randomUUID()}`
  await mkdir(REACHABLE_HOME, { recursive: true, mode: 0o755 })
  await cp(folder, draft, { recursive: true, verbatimSymlinks: true })
  try {
    await rename(draft, copy)
  } catch (error) {
    // Another process that starts at the same moment may have created it.
    await rm(draft, { recursive: true, force: true })
    if (!(await exists(copy))) throw error
  }
  return copy
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Whether a user may pass through every folder down to this one, by permission bits only. */
async function canReach(account: Account, folder: string): Promise<boolean> {
  for (let path = await realpath(folder); ; path = dirname(path)) {
    const { uid, gid, mode } = await stat(path)
    const needed = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
    if ((mode & needed) === 0) return false
    if (path === dirname(path)) return true
  }
}
