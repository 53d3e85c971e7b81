import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from './data-folder.js'
import { createFile, readJson, replaceFile } from './files.js'
import { isAlive, ownIdentity, type ProcessIdentity, parseIdentity } from './process-identity.js'

/*
 * Which process owns a data folder. Node has no lock that the system releases when its holder dies, so the lock of a dead
 * holder must be taken over, and "remove the stale lock, then create mine" lets two processes win: the slower one removes the
 * lock that the faster one has just created. Therefore locks are numbered and never reused: `owner/7` names the holder; a
 * process that finds it dead or released creates `owner/8`, which succeeds for one process only. A slow process may still
 * create a number that was passed and removed already; afterwards it finds a higher number and gives way.
 */
export interface OwnerLock {
  readonly owner: ProcessIdentity
  release(): Promise<void>
}

export type Ownership = { lock: OwnerLock } | { heldBy: ProcessIdentity }

/** Tries to become the owner of a data folder without waiting. @returns the lock, or the running process that holds it */
export async function acquireOwnership(dataDir: string): Promise<Ownership> {
  const folder = join(dataDir, 'owner')
  await makeFolder(folder, dataDir)
  for (;;) {
    const last = Math.max(0, ...(await lockNumbers(folder)))
    // Released and damaged locks have no holder. Files are created atomically, so only a power cut damages one.
    const holder = last === 0 ? null : parseIdentity(await readJson(join(folder, String(last))))
    if (holder !== null && isAlive(holder)) return { heldBy: holder }

    const mine = last + 1
    const owner = ownIdentity()
    if (!(await createFile(join(folder, String(mine)), `${JSON.stringify(owner)}\n`))) continue
    const numbers = await lockNumbers(folder)
    if (numbers.some((number) => number > mine)) {
      await rm(join(folder, String(mine)), { force: true })
      continue
    }
    for (const number of numbers) if (number < mine) await rm(join(folder, String(number)), { force: true })
    // A released lock remains as a file, so that the next number follows it.
    return { lock: { owner, release: () => replaceFile(join(folder, String(mine)), '{"released":true}\n') } }
  }
}

async function lockNumbers(folder: string): Promise<number[]> {
  return (await readdir(folder)).filter((name) => /^\d{1,15}$/.test(name)).map(Number)
}
