import { setFlagsFromString } from 'node:v8'

/**
 * Growth of the heap, in percent of the live objects, before old garbage is collected. V8 uses up to three times the
 * size of the live objects, by the rate of growth, in each thread of a process separately.
 */
const GROWTH_PERCENT = 30

/**
 * Makes this process, with all its threads, collect garbage early: bounded memory in exchange for time of the
 * concurrent collector. For long-running processes: the space for new objects may grow, so that they are collected
 * there.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  setFlagsFromString('--semi-space-growth-factor=2')
}

/**
 * The same for a command that runs once and reads much. V8 doubles the space for new objects whenever many of them
 * survive, up to 32 MB, and never shrinks it: here it keeps the size that it has when this is called.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  setFlagsFromString('--semi-space-growth-factor=1')
}
