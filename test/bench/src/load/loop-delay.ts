import { monitorEventLoopDelay } from 'node:perf_hooks'

const POLL_EVERY_MS = 5
const NANOSECONDS_PER_MS = 1e6

/** The delay of this process itself, which on a busy machine is part of every measured time. */
export class LoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: POLL_EVERY_MS })

  constructor() {
    this.#histogram.enable()
  }

  /** @returns the 99th percentile since it began, in milliseconds beyond the sampling interval */
  stop(): number {
    this.#histogram.disable()
    return Math.max(0, this.#histogram.percentile(99) / NANOSECONDS_PER_MS - POLL_EVERY_MS)
  }
}
