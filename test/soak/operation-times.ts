import type { OperationSample } from './sample.js'

interface Times {
  tookMs: number[]
  failed: number
}

/** How long operations took since the last sample, by kind. */
export class OperationTimes {
  #times = new Map<string, Times>()

  done(operation: string, tookMs: number): void {
    this.#of(operation).tookMs.push(tookMs)
  }

  failed(operation: string): void {
    this.#of(operation).failed++
  }

  take(): OperationSample[] {
    const taken = [...this.#times]
    this.#times = new Map()
    return taken
      .map(([operation, { tookMs, failed }]) => {
        const sorted = tookMs.sort((one, other) => one - other)
        const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
        return { operation, count: sorted.length, failed, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) }
      })
      .sort((one, other) => one.operation.localeCompare(other.operation))
  }

  #of(operation: string): Times {
    const times = this.#times.get(operation) ?? { tookMs: [], failed: 0 }
    this.#times.set(operation, times)
    return times
  }
}
