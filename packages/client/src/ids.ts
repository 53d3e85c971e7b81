import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'

const RANDOM_BYTES = 16
/** Random bytes are drawn for many ids at once: a draw takes longer than all else that an id needs. */
const pool = Buffer.alloc(RANDOM_BYTES * 256)
let used = pool.length

/** A new UUID of version 7. Ids of one millisecond are in no order: `ordinal` has it. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool.subarray(used, used + RANDOM_BYTES)
  used += RANDOM_BYTES
  return v7({ random })
}
