import type { StageName } from '@heddle/contracts'
import { median } from '../load/statistics.js'

export const allStages: readonly StageName[] = ['ingest', 'prune', 'summarize', 'embed', 'assemble']

/** The budget that an agent of these benchmarks has; turns ask for another one. */
export const settings = { budget: 16_000, rollingWindow: null }

/** @param work gives the milliseconds that count of one call */
export async function p50Of(calls: number, work: (call: number) => Promise<number>): Promise<number> {
  const tookMs: number[] = []
  for (let call = 0; call < calls; call++) tookMs.push(await work(call))
  return median(tookMs)
}
