import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/**
 * Growth of the heap, in percent of the live objects, before old garbage is collected. V8 uses up to three times the
 * size of the live objects, by the rate of growth, in each thread of a process separately.
 */
const GROWTH_PERCENT = 30

/**
 * Growth of a small heap, in bytes: its collections cost the most for what they free. With three tenths of the 50 MB of a worker,
 * most of them code, the collector took a fifth of the time of a worker that stores single messages.
 */
const GROWTH_BYTES = 64 * 1024 * 1024
/** At most, since the flag also holds for the threads of the process, whose heaps may be larger than the one that is looked at. */
const GROWTH_PERCENT_MAX = 100
/** How often the growth is set for the size of the heap, in milliseconds. */
const LOOK_EVERY_MS = 1_000

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
  setFlagsFromString('--semi-space-growth-factor=2')
  if (work === 'relays') {
    setGrowth(RELAYING_GROWTH_PERCENT)
    return
  }
  let set = Number.NaN
  const setForSize = () => {
    const percent = growthPercentOf(getHeapStatistics().used_heap_size)
    if (percent !== set) setGrowth(percent)
    set = percent
  }
  setForSize()
  setInterval(setForSize, LOOK_EVERY_MS).unref()
}

/**
 * The growth that a heap of jobs may have, in steps of ten percent.
 *
 * @param usedBytes with garbage that is not collected yet, so that the growth is rather too small
 */
export function growthPercentOf(usedBytes: number): number {
  const percent = Math.floor((GROWTH_BYTES * 10) / usedBytes) * 10
  return Math.min(GROWTH_PERCENT_MAX, Math.max(GROWTH_PERCENT, percent))
}

function setGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`)
}

/**
 * The same for a command that runs once and reads much. V8 doubles the space for new objects whenever many of them
 * survive, up to 32 MB, and never shrinks it: here it keeps the size that it has when this is called.
 */
export function keepHeapSmall(): void {
  setGrowth(GROWTH_PERCENT)
  setFlagsFromString('--semi-space-growth-factor=1')
}
