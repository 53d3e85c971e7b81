import { createHash } from 'node:crypto'
import type { ByteSource } from '@heddle/sessions'
import { openSessionBytes, type SessionBytes } from '../session-bytes.js'

const LINE_FEED = 0x0a
const BLOCK_BYTES = 64 * 1_024

/**
 * The bytes of a session up to its last line break: the line after it is still being written. So a session that is read
 * while it grows is never cut within a line or a character.
 *
 * @throws as {@link openSessionBytes}
 */
export async function openWholeLines(path: string): Promise<SessionBytes> {
  const bytes = await openSessionBytes(path)
  const size = lastBreak(bytes) + 1
  return {
    path: bytes.path,
    size,
    read: (from, to, into) => bytes.read(from, to, into),
    close: () => bytes.close(),
    remove: () => bytes.remove(),
  }
}

/** -1 without any line break. */
function lastBreak(bytes: ByteSource): number {
  for (let to = bytes.size; to > 0; to -= BLOCK_BYTES) {
    const from = Math.max(0, to - BLOCK_BYTES)
    const place = bytes.read(from, to).lastIndexOf(LINE_FEED)
    if (place >= 0) return from + place
  }
  return -1
}

/** Identifies a session by the beginning of its file, which no agent changes later: eight characters. */
export function headOf(bytes: ByteSource): string {
  const head = bytes.read(0, Math.min(bytes.size, BLOCK_BYTES))
  const end = head.indexOf(LINE_FEED)
  return createHash('sha256')
    .update(end < 0 ? head : head.subarray(0, end))
    .digest('hex')
    .slice(0, 8)
}
