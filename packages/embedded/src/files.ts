import { randomBytes } from 'node:crypto'
import { link, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces a file atomically: a reader sees the old or the new content, also after a power cut. */
export async function replaceFile(path: string, content: string, mode = 0o644): Promise<void> {
  const draft = `${path}.${randomBytes(4).toString('hex')}`
  try {
    await writeFlushed(draft, content, mode)
    await rename(draft, path)
    await flushFolder(dirname(path))
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Creates a file with its content in one step; returns false if it exists. */
export async function createFile(path: string, content: string, mode = 0o644): Promise<boolean> {
  const draft = `${path}.${randomBytes(4).toString('hex')}`
  try {
    await writeFlushed(draft, content, mode)
    await link(draft, path)
    await flushFolder(dirname(path))
    return true
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

async function writeFlushed(path: string, content: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The name of a new file is stored in its folder, which must be flushed, too. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The content of a text file, or null if it does not exist. */
export async function readIfPresent(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** JSON from a file, or undefined if it does not exist or is damaged. */
export async function readJson(path: string): Promise<unknown> {
  const text = await readIfPresent(path)
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The system's code of an error, such as `EACCES`. */
export function errorCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
