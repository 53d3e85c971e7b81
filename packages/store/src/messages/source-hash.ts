import { createHash } from 'node:crypto'

/** By this, as hexadecimal digits, an erased message is known by the id that it had at its source. */
export function sourceHash(sourceId: string): string {
  return createHash('sha256').update(sourceId).digest('hex')
}
