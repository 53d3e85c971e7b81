import { setFlagsFromString } from 'node:v8'

/**
 * By how much of what is in use the heap grows before old garbage is collected, in percent. V8 takes up to three times what
 * is in use, by how fast it grows: of the threads of a process each does so by itself.
 */
const GROWTH_PERCENT = 30

/**
 * Has this process, with all of its threads, collect its garbage early: memory that stays within a bound for more time of
 * the collector, which works beside the program. For processes that run for long: new objects get room to die in.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  setFlagsFromString('--semi-space-growth-factor=2')
}

/**
 * The same for a command that runs once and reads much. V8 doubles the space of new objects each time that many of them
 * outlive it, up to 32 MB, and never gives it back: here it stays as small as it is when this is called.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  setFlagsFromString('--semi-space-growth-factor=1')
}
