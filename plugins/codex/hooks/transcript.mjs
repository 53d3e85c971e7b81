/** The file in which an agent keeps a session. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Bytes of the end of a transcript that are read after an outage. */
const TRANSCRIPT_BYTES_MAX = 16_000_000

/** The records at the end of a transcript. */
export function recordsOf(path) {
  if (typeof path !== 'string') return []
  try {
    return endOf(path)
      .split('\n')
      .flatMap((line) => {
        try {
          return [JSON.parse(line)]
        } catch {
          return []
        }
      })
  } catch {
    return []
  }
}

function endOf(path) {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const bytes = Buffer.alloc(Math.min(size, TRANSCRIPT_BYTES_MAX))
    const read = readSync(file, bytes, 0, bytes.length, size - bytes.length)
    return bytes.subarray(0, read).toString('utf8')
  } finally {
    closeSync(file)
  }
}
