import { readFile, stat } from 'node:fs/promises'
import { PermanentError } from '@heddle/contracts'

/** A session's file is read whole, as one text, and JavaScript's texts end near 512 MB. */
export const FILE_BYTES_MAX = 256 * 1_024 * 1_024

/**
 * A session's file as text.
 *
 * @throws PermanentError `NOT_FOUND`, `FORBIDDEN`, `PAYLOAD_TOO_LARGE` or `VALIDATION_ERROR`, each naming the file
 */
export async function readSessionFile(path: string): Promise<string> {
  const details = { field: 'file', received: path }
  try {
    const { size } = await stat(path)
    if (size > FILE_BYTES_MAX) {
      throw new PermanentError(
        'PAYLOAD_TOO_LARGE',
        `${path}: has ${size} bytes, at most ${FILE_BYTES_MAX} are read at once`,
        {
          ...details,
          hint: 'Split the file into sessions; nothing was stored.',
        },
      )
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
  } catch (error) {
    throw fileError(path, error, details)
  }
}

function fileError(path: string, error: unknown, details: { field: string; received: string }): unknown {
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
    return new PermanentError('FORBIDDEN', `file: ${path} may not be read by this user`, {
      ...details,
      hint: 'Give yourself the right to read it.',
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
