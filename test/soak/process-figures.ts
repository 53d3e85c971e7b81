import type { ProcessSample } from './sample.js'

/** A process under load, and the address of its figures. */
export interface LoadedProcess {
  readonly name: string
  readonly metricsUrl: string
}

/** The library's sampling interval, which is included in its measured delay. */
const POLL_EVERY_MS = 10

export async function readProcess({ name, metricsUrl }: LoadedProcess): Promise<ProcessSample> {
  const response = await fetch(metricsUrl)
  return processFiguresOf(name, await response.text())
}

/** @throws Error if a figure is missing */
export function processFiguresOf(name: string, text: string): ProcessSample {
  const figureOf = (metric: string): number => {
    const [, value] = new RegExp(`^${metric} (\\S+)$`, 'm').exec(text) ?? []
    if (value === undefined) throw new Error(`${name} does not report ${metric}`)
    return Number(value)
  }
  const delayMs = (quantile: string) =>
    Math.max(0, figureOf(`nodejs_eventloop_lag_${quantile}_seconds`) * 1_000 - POLL_EVERY_MS)
  return {
    name,
    residentBytes: figureOf('process_resident_memory_bytes'),
    heapUsedBytes: figureOf('nodejs_heap_size_used_bytes'),
    externalBytes: figureOf('nodejs_external_memory_bytes'),
    loopDelayP50Ms: delayMs('p50'),
    loopDelayP99Ms: delayMs('p99'),
    loopDelayMaxMs: delayMs('max'),
    cpuSeconds: figureOf('process_cpu_seconds_total'),
  }
}
