import { setFlagsFromString } from 'node:v8'

/**
 * By how much of what is in use the heap grows before old garbage is collected, in percent. V8 takes up to three times what
 * is in use, by how fast it grows: of the threads of a process each does so by itself.
 */
const GROWTH_PERCENT = 30

/**
 * Has this process, with all of its threads, collect its garbage early: memory that stays within a bound for more time of
 * the collector, which works beside the program. For processes that run for long.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}
