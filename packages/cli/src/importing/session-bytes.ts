import { closeSync, createWriteStream, openSync, readSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { PermanentError, RetryableError } from '@heddle/contracts'
import type { ByteSource } from '@heddle/sessions'
import { checkRegular, fileError, STANDARD_INPUT } from './read-file.js'

/**
 * The bytes of a session's file up to its size at the start: later additions are left to the next import. The file is opened
 * when it is read, and may be closed between reads.
 */
export interface SessionBytes extends ByteSource {
  readonly path: string
  close(): void
  /** Closes it, and removes the copy of standard input. */
  remove(): Promise<void>
}

/**
 * @param path a regular file, or `/dev/stdin` for standard input, which is copied to a temporary file
 * @throws PermanentError `NOT_FOUND`, `FORBIDDEN` or `VALIDATION_ERROR`, each naming the file
 * @throws RetryableError `SERVICE_UNAVAILABLE` if the disk of the temporary folder is full
 */
export async function openSessionBytes(path: string): Promise<SessionBytes> {
  try {
    if (path !== STANDARD_INPUT)
      return new FileBytes(path, { copy: path, size: await checkRegular(path), remove: async () => {} })
    return await copyStandardInput()
  } catch (error) {
    throw fileError(path, error)
  }
}

async function copyStandardInput(): Promise<SessionBytes> {
  let folder: string | null = null
  const remove = async () => {
    if (folder !== null) await rm(folder, { recursive: true, force: true })
  }
  try {
    folder = await mkdtemp(join(tmpdir(), 'heddle-import-'))
    const copy = join(folder, 'stdin')
    await pipeline(process.stdin, createWriteStream(copy, { mode: 0o600 }))
    return new FileBytes(STANDARD_INPUT, { copy, size: (await stat(copy)).size, remove })
  } catch (error) {
    await remove()
    throw isDiskFull(error) ? temporaryFolderFull(error) : error
  }
}

function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}

function temporaryFolderFull(cause: unknown): RetryableError {
  return new RetryableError(
    'SERVICE_UNAVAILABLE',
    `file: the disk that holds the temporary folder ${tmpdir()} is full`,
    {
      field: 'file',
      received: STANDARD_INPUT,
      hint: 'Free space on it, set TMPDIR to a folder on another disk, or import a file instead of a pipe. Nothing was stored.',
      cause,
    },
  )
}

class FileBytes implements SessionBytes {
  readonly path: string
  readonly size: number
  readonly #copy: string
  readonly #removeCopy: () => Promise<void>
  #descriptor: number | null = null

  /** @param from the copy that is read; `path` is the name in messages */
  constructor(path: string, from: { copy: string; size: number; remove: () => Promise<void> }) {
    this.path = path
    this.size = from.size
    this.#copy = from.copy
    this.#removeCopy = from.remove
  }

  read(from: number, to: number, into?: Uint8Array): Uint8Array {
    this.#descriptor ??= openSync(this.#copy, 'r')
    const bytes =
      into !== undefined && into.length >= to - from ? into.subarray(0, to - from) : new Uint8Array(to - from)
    let length = 0
    while (length < bytes.length) {
      const read = readSync(this.#descriptor, bytes, length, bytes.length - length, from + length)
      if (read === 0) throw cutShort(this.path)
      length += read
    }
    return bytes
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor)
    this.#descriptor = null
  }

  async remove(): Promise<void> {
    this.close()
    await this.#removeCopy()
  }
}

function cutShort(path: string): PermanentError {
  return new PermanentError('VALIDATION_ERROR', `file: ${path} was truncated while it was read`, {
    field: 'file',
    received: path,
    hint: 'Import it again when no program writes to it: stored messages are not duplicated.',
  })
}
