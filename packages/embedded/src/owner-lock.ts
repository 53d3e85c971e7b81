import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from './data-folder.js'
import { createFile, readJson, replaceFile } from './files.js'
import { isAlive, ownIdentity, type ProcessIdentity, parseIdentity } from './process-identity.js'

/*
 * Which process owns a data folder. Node has no lock that the system lifts when its holder dies, so a dead holder's lock has
 * to be taken over, and "remove the stale one, then create mine" lets two processes win: the slower one removes the lock that
 * the faster one has just created. Therefore locks are numbered and none is reused: `owner/7` names the holder; whoever finds
 * it dead or released creates `owner/8`, which succeeds for one process only. A slow process may still create a number that
 * was already passed and tidied away; it finds a higher one afterwards and steps back.
 */
export interface OwnerLock {
  readonly owner: ProcessIdentity
  release(): Promise<void>
}

export type Ownership = { lock: OwnerLock } | { heldBy: ProcessIdentity }

/** Tries to become the owner of a data folder; tells who owns it if another living process does. Never waits. */
export async function takeOwnership(dataDir: string): Promise<Ownership> {
  const folder = join(dataDir, 'owner')
  await makeFolder(folder, dataDir)
  for (;;) {
    const last = Math.max(0, ...(await lockNumbers(folder)))
    // Released and damaged locks have no holder. Files appear complete, so only a power cut damages one.
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
    // A released lock stays behind as a number, so that counting goes on from it.
    return { lock: { owner, release: () => replaceFile(join(folder, String(mine)), '{"released":true}\n') } }
  }
}

async function lockNumbers(folder: string): Promise<number[]> {
  return (await readdir(folder)).filter((name) => /^\d{1,15}$/.test(name)).map(Number)
}
