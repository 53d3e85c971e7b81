import { randomBytes } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'

/** Writes a file so that a reader sees the old or the new content, never a part of it. */
export async function replaceFile(path: string, content: string, mode = 0o644): Promise<void> {
  const draft = `${path}.${randomBytes(4).toString('hex')}`
  try {
    await writeFile(draft, content, { mode, flag: 'wx' })
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** A text file's content, or null when there is none. */
export async function readIfPresent(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** JSON from a file, or undefined when there is none or it is damaged. */
export async function readJson(path: string): Promise<unknown> {
  const text = await readIfPresent(path)
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The system's name of an error (`EACCES`), if it has one. */
export function errorCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
