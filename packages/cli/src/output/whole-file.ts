import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { PermanentError, RetryableError } from '@heddle/contracts'

export interface WholeFileOptions {
  readonly signal?: AbortSignal | undefined
  /** The permissions of a file that does not exist yet. Default: as the process creates files. */
  readonly newMode?: number
  /** Reads the complete temporary file before it gets its name. */
  readonly check?: (partial: string) => Promise<void>
}

/**
 * Writes the file of `--out` atomically: the content goes to a temporary file, which is renamed once it is complete. If writing
 * fails, the temporary file is removed and an existing file stays as it was.
 *
 * @returns the number of bytes written
 * @throws PermanentError `NOT_FOUND` without its folder, `VALIDATION_ERROR` if the path is not a file, `FORBIDDEN`;
 *   RetryableError `SERVICE_UNAVAILABLE` if the disk is full
 */
export async function writeWholeFile(
  path: string,
  parts: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  { signal, newMode, check = async () => {} }: WholeFileOptions = {},
): Promise<number> {
  // A link is followed: its target is replaced.
  const target = await realpath(path).catch(() => path)
  const partial = `${target}.${process.pid}.partial`
  try {
    const mode = (await modeOf(path)) ?? newMode
    // Opened first: a stream that opens its file itself may do so after it has ended, and leave the file behind.
    const file = (await open(partial, 'w', mode)).createWriteStream()
    await pipeline(Readable.from(parts, { objectMode: true, highWaterMark: 16 }), file, { signal })
    await check(partial)
    await rename(partial, target)
    return file.bytesWritten
  } catch (error) {
    await rm(partial, { force: true })
    throw writeError(path, error)
  }
}

/**
 * The mode of an existing file, which the new file keeps.
 *
 * @throws PermanentError if it is a device or a pipe, which would be replaced by a regular file
 */
async function modeOf(path: string): Promise<number | undefined> {
  const there = await stat(path).catch(() => null)
  if (there === null || there.isFile()) return there?.mode
  throw new PermanentError('VALIDATION_ERROR', `out: ${path} must be a regular file or not exist`, {
    field: 'out',
    received: path,
    hint: 'Name a file, or omit --out to print to standard output.',
  })
}

function writeError(path: string, error: unknown): unknown {
  const details = { field: 'out', received: path, cause: error }
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new PermanentError('NOT_FOUND', `out: the folder of ${path} does not exist`, {
        ...details,
        hint: `Create the folder first: mkdir -p ${dirname(path)}`,
      })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new PermanentError('FORBIDDEN', `out: ${path} cannot be written by this user`, {
        ...details,
        hint: 'Grant this user permission to write there, or name another folder.',
      })
    case 'ENOSPC':
    case 'EDQUOT':
      return new RetryableError('SERVICE_UNAVAILABLE', `out: the disk that holds ${path} is full`, {
        ...details,
        hint: 'Free space on it, or name a folder on another disk. Nothing was written.',
      })
    default:
      return error
  }
}
