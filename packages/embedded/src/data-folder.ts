import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { HeddleError, PermanentError, RetryableError } from '@heddle/contracts'
import { errorCodeOf } from './files.js'

const ELSEWHERE = 'Choose another folder with --data (or HEDDLE_DATA), or set DATABASE_URL.'

/**
 * Creates a data folder or a folder inside of it, with its parents.
 *
 * @throws PermanentError `FORBIDDEN` or `VALIDATION_ERROR` of the field `data` if the folder cannot be created
 * @throws RetryableError `SERVICE_UNAVAILABLE` if the disk is full
 */
export async function makeFolder(path: string, dataDir: string): Promise<void> {
  try {
    await makeLevel(resolve(path))
  } catch (error) {
    throw unusableFolder(dataDir, error)
  }
}

/** Level by level: Node's own recursion never ends below a folder in which none can be created, such as `/proc`. */
async function makeLevel(path: string): Promise<void> {
  const code = await tryMake(path)
  if (code !== 'ENOENT') return
  const parent = dirname(path)
  if (parent !== path) await makeLevel(parent)
  if ((await tryMake(path)) === 'ENOENT') throw Object.assign(new Error(`no folder in ${parent}`), { code: 'ENOTSUP' })
}

async function tryMake(path: string): Promise<'ENOENT' | 'there'> {
  try {
    await mkdir(path, { mode: 0o755 })
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === 'ENOENT') return 'ENOENT'
    // For an existing folder systems may report another error first, such as a read-only disk.
    const found = await stat(path).catch(() => null)
    if (found?.isDirectory() !== true) throw error
  }
  return 'there'
}

/** Converts the system's errors about a data folder to typed errors with a hint; other errors are returned unchanged. */
export function unusableFolder(dataDir: string, error: unknown): unknown {
  if (error instanceof HeddleError) return error
  const code = errorCodeOf(error)
  const details = { field: 'data', received: dataDir, hint: ELSEWHERE, cause: error }
  const invalid = (rule: string) => new PermanentError('VALIDATION_ERROR', `data: ${rule}: ${dataDir}`, details)
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS': {
      const reason = code === 'EROFS' ? 'its disk is read-only' : 'this user has no write permission'
      return new PermanentError('FORBIDDEN', `data: must be a folder that can be written, but ${reason}: ${dataDir}`, {
        ...details,
        hint: `Give this user write permission. ${ELSEWHERE}`,
      })
    }
    case 'ENOTDIR':
    case 'EEXIST':
      return invalid('must be a folder, but a file is in its place or on the way to it')
    case 'ENAMETOOLONG':
      return invalid('must be a path that the system accepts, but this one is too long')
    case 'ELOOP':
      return invalid('must be a folder, but the symbolic links to it form a circle')
    case 'ENOTSUP':
      return invalid('must be on a disk, but no folder can be created there')
    case 'ERR_INVALID_ARG_VALUE':
      return invalid('must be a path without null bytes')
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(dataDir, error)
    default:
      return error
  }
}

export function diskFull(dataDir: string, cause?: unknown): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', `The disk that holds ${dataDir} is full`, {
    hint: `Free space on it. ${ELSEWHERE}`,
    ...(cause !== undefined && { cause }),
  })
}
