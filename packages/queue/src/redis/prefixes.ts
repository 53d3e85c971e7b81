import type { Redis } from 'ioredis'
import { PREFIXES_NAMED_MAX } from '../base/unknown-prefix.js'

/** Start of the key that marks a served prefix. It is outside of the prefix, so that other prefixes can be found, too. */
const SERVED = 'heddle-served:'
const KEYS_PER_SCAN = 1_000
/** A Redis may hold many other keys: scanning all of them is too expensive for an error message. */
const SCANS_MAX = 100

export async function markServed(redis: Redis, prefix: string): Promise<void> {
  await redis.set(`${SERVED}${prefix}`, '1')
}

export async function isServed(redis: Redis, prefix: string): Promise<boolean> {
  return (await redis.exists(`${SERVED}${prefix}`)) === 1
}

export async function forgetServed(redis: Redis, prefix: string): Promise<void> {
  await redis.unlink(`${SERVED}${prefix}`)
}

export async function servedPrefixes(redis: Redis): Promise<string[]> {
  const found = new Set<string>()
  let cursor = '0'
  for (let scans = 0; scans < SCANS_MAX; scans++) {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `${SERVED}*`, 'COUNT', KEYS_PER_SCAN)
    for (const key of keys) found.add(key.slice(SERVED.length))
    cursor = next
    if (cursor === '0') break
  }
  return [...found].sort().slice(0, PREFIXES_NAMED_MAX)
}
