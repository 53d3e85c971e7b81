/** Bytes of an id of version 7 that are neither time nor version. */
const RANDOM_BYTES = 10
/** Random bytes are drawn for many ids at once: a draw takes longer than the rest of making an id. */
const pool = new Uint8Array(RANDOM_BYTES * 256)
let used = pool.length
/** Each byte as two digits, because pages have no Buffer. */
const HEXADECIMAL = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
/** The first two groups of digits, which ids of one millisecond share. */
let latest = { timeMs: Number.NaN, digits: '' }

/** A new UUID of version 7. Ids of one millisecond are unordered; `ordinal` orders them. */
export function newId(): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  let random = ''
  for (let index = used; index < used + RANDOM_BYTES; index++) random += HEXADECIMAL[pool[index] ?? 0]
  // The variant leaves two random bits in this digit.
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
