import { readFile, stat } from 'node:fs/promises'
import { PermanentError } from '@heddle/contracts'

/** A file read at once becomes one string, and JavaScript strings are limited to about 512 MB. */
export const FILE_BYTES_MAX = 256 * 1_024 * 1_024

interface Details {
  readonly field: string
  readonly received: string
}

/** The only path that is read although it is not a regular file. */
export const STANDARD_INPUT = '/dev/stdin'

/**
 * A file of lines as text; `/dev/stdin` is standard input. The last character of a session that is being written may be
 * incomplete: it is dropped, and its line is then treated as unfinished.
 *
 * @throws PermanentError `NOT_FOUND`, `FORBIDDEN`, `PAYLOAD_TOO_LARGE` or `VALIDATION_ERROR`, each naming the file
 */
export async function readWholeFile(path: string): Promise<string> {
  const details = { field: 'file', received: path }
  try {
    const bytes = path === STANDARD_INPUT ? await readStandardInput(details) : await readRegularFile(path, details)
    return decode(bytes)
  } catch (error) {
    throw fileError(path, error)
  }
}

function decode(bytes: Uint8Array): string {
  // `stream` accepts an incomplete last character; invalid bytes are still refused.
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
}

async function readRegularFile(path: string, details: Details): Promise<Uint8Array> {
  const size = await checkRegular(path)
  if (size > FILE_BYTES_MAX) throw tooLarge(path, `has ${size} bytes`, details)
  return await readFile(path)
}

/**
 * @returns its size in bytes
 * @throws PermanentError `VALIDATION_ERROR` if it is not a file
 */
export async function checkRegular(path: string): Promise<number> {
  const file = await stat(path)
  if (file.isDirectory()) throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' })
  // Opening a named pipe blocks a thread until somebody writes to it, and the process cannot exit meanwhile.
  if (!file.isFile()) {
    throw new PermanentError('VALIDATION_ERROR', `file: ${path} must be a regular file, not a pipe or a device`, {
      field: 'file',
      received: path,
      hint: `Write the session into a file and import that, or pipe it to ${STANDARD_INPUT} with --thread NAME.`,
    })
  }
  return file.size
}

async function readStandardInput(details: Details): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of process.stdin) {
    parts.push(part)
    size += part.length
    if (size > FILE_BYTES_MAX) throw tooLarge(STANDARD_INPUT, 'goes on', details)
  }
  return Buffer.concat(parts)
}

function tooLarge(path: string, what: string, details: Details): PermanentError {
  return new PermanentError('PAYLOAD_TOO_LARGE', `${path}: ${what}, at most ${FILE_BYTES_MAX} bytes are read at once`, {
    ...details,
    hint: 'Split the file; nothing was stored.',
  })
}

/** Converts an error of the file system to a typed error with the file and a hint. */
export function fileError(path: string, error: unknown, details: Details = { field: 'file', received: path }): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') {
    return new PermanentError('NOT_FOUND', `file: ${path} does not exist`, {
      ...details,
      hint: 'Check the path of the file.',
    })
  }
  if (code === 'EISDIR') {
    return new PermanentError('VALIDATION_ERROR', `file: ${path} is a folder`, {
      ...details,
      hint: `Name the files in it, such as ${path}/*.jsonl.`,
    })
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new PermanentError('FORBIDDEN', `file: ${path} cannot be read by this user`, {
      ...details,
      hint: 'Grant this user permission to read it.',
    })
  }
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    return new PermanentError('VALIDATION_ERROR', `file: ${path} is not UTF-8 text`, {
      ...details,
      hint: 'Sessions are JSON or JSON lines in UTF-8; nothing was stored.',
    })
  }
  return error
}
