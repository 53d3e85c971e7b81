import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { findUp, type RunningUp, readUp, UP_FILE } from '@heddle/client/connect'
import { createFile, makeFolder, replaceFile, unusableFolder } from '@heddle/embedded'

const ANSWER_WITHIN_MS = 2_000

/**
 * Announces in the data folder, which is created if missing, that this process serves it or is starting to. Of two
 * concurrent calls one succeeds.
 *
 * @returns false if another running process is announced there
 */
export async function announceUp(dataDir: string, up: RunningUp): Promise<boolean> {
  await makeFolder(dataDir, dataDir)
  const path = join(dataDir, UP_FILE)
  const text = `${JSON.stringify(up)}\n`
  try {
    if (await createFile(path, text)) return true
    if ((await findUp(dataDir)) !== null) return false
    await replaceFile(path, text)
    return true
  } catch (error) {
    throw unusableFolder(dataDir, error)
  }
}

/** Removes the announcement, unless it is that of another process. */
export async function withdrawUp(dataDir: string, pid: number): Promise<void> {
  const up = await readUp(dataDir)
  if (up?.pid === pid) await rm(join(dataDir, UP_FILE), { force: true })
}

/** Whether it serves requests, instead of still starting. */
export async function isReady(up: RunningUp): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
    return (await fetch(`http://127.0.0.1:${up.port}/readyz`, { signal })).ok
  } catch {
    return false
  }
}
