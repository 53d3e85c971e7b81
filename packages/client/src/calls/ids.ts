import { randomFillSync } from 'node:crypto'

/** Of an id of version 7: what its time and its version leave. */
const RANDOM_BYTES = 10
/** Random bytes are drawn for many ids at once: a draw takes longer than all else that an id needs. */
const pool = Buffer.alloc(RANDOM_BYTES * 256)
let used = pool.length
/** The first two groups of digits, which the ids of one millisecond share. */
let latest = { timeMs: Number.NaN, digits: '' }

/** A new UUID of version 7. Ids of one millisecond are in no order: `ordinal` has it. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool.toString('hex', used, used + RANDOM_BYTES)
  // Of this digit the variant leaves two bits to chance.
  const variant = VARIANTS[((pool[used + 2] ?? 0) >> 4) & 3]
  used += RANDOM_BYTES
  return `${timeDigits()}-7${random.slice(0, 3)}-${variant}${random.slice(5, 8)}-${random.slice(8)}`
}

const VARIANTS = ['8', '9', 'a', 'b'] as const

function timeDigits(): string {
  const timeMs = Date.now()
  if (timeMs !== latest.timeMs) {
    const digits = timeMs.toString(16).padStart(12, '0')
    latest = { timeMs, digits: `${digits.slice(0, 8)}-${digits.slice(8)}` }
  }
  return latest.digits
}
