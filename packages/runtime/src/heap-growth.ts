import { setFlagsFromString } from 'node:v8'

/**
 * Growth of the heap, in percent of the live objects, before old garbage is collected. V8 uses up to three times the
 * size of the live objects, by the rate of growth, in each thread of a process separately.
 */
const GROWTH_PERCENT = 30

/**
 * Bytes outside the heap count as growth, and a relayed body of a long conversation is more than a megabyte of them: with
 * a smaller growth, every tenth request would collect all garbage, which takes longer than all else that is done for it.
 */
const RELAYING_GROWTH_PERCENT = 100

/**
 * Makes this process, with all its threads, collect garbage early: bounded memory in exchange for time of the
 * concurrent collector. For long-running processes: the space for new objects may grow, so that they are collected
 * there.
 *
 * @param work of the process: `relays` large bodies and has no threads
 */
export function limitHeapGrowth(work: 'jobs' | 'relays' = 'jobs'): void {
  setFlagsFromString(`--heap-growing-percent=${work === 'relays' ? RELAYING_GROWTH_PERCENT : GROWTH_PERCENT}`)
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
