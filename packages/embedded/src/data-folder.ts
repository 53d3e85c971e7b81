import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { HeddleError, PermanentError, RetryableError } from '@heddle/contracts'
import { errorCodeOf } from './files.js'

const ELSEWHERE = 'Choose another folder with --data (or HEDDLE_DATA), or set DATABASE_URL.'

/**
 * Creates a folder inside of a data folder, or that itself, with all that lead to it.
 *
 * @throws PermanentError `FORBIDDEN` or `VALIDATION_ERROR` of the field `data` where the folder cannot be had
 * @throws RetryableError `SERVICE_UNAVAILABLE` where the disk is full
 */
export async function makeFolder(path: string, dataDir: string): Promise<void> {
  try {
    await makeLevel(resolve(path))
  } catch (error) {
    throw unusableFolder(dataDir, error)
  }
}

/** Level by level: Node's own recursion never ends where a folder exists in which none can be made, such as `/proc`. */
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
    // Systems name other reasons first for a folder that is there, such as a disk that may only be read.
    const found = await stat(path).catch(() => null)
    if (found?.isDirectory() !== true) throw error
  }
  return 'there'
}

/** Gives the system's refusals of a data folder a name and a way out; other errors are returned as they are. */
export function unusableFolder(dataDir: string, error: unknown): unknown {
  if (error instanceof HeddleError) return error
  const code = errorCodeOf(error)
  const details = { field: 'data', received: dataDir, hint: ELSEWHERE, cause: error }
  const invalid = (rule: string) => new PermanentError('VALIDATION_ERROR', `data: ${rule}: ${dataDir}`, details)
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS': {
      const reason = code === 'EROFS' ? 'its disk may only be read' : 'this user may not write there'
      return new PermanentError('FORBIDDEN', `data: must be a folder that can be written, but ${reason}: ${dataDir}`, {
        ...details,
        hint: `Give this user the right to write there. ${ELSEWHERE}`,
      })
    }
    case 'ENOTDIR':
    case 'EEXIST':
      return invalid('must be a folder, but a file is in its place or on the way to it')
    case 'ENAMETOOLONG':
      return invalid('must be a path that the system takes, but this one is too long')
    case 'ELOOP':
      return invalid('must be a folder, but the links that lead to it go round in a circle')
    case 'ENOTSUP':
      return invalid('must be on a disk, but no folder can be made there')
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
    hint: `Make room on it. ${ELSEWHERE}`,
    ...(cause !== undefined && { cause }),
  })
}
