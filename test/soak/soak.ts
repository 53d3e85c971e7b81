import { createClient } from '@heddle/client/http'
import { closeLater } from '@heddle/test-support/closing'
import type { SoakArguments } from './arguments.js'
import { openDatabaseReader } from './database-figures.js'
import { startLoad } from './load.js'
import { OperationTimes } from './operation-times.js'
import { readProcess } from './process-figures.js'
import type { Sample } from './sample.js'
import { startTopology } from './topology.js'

const MINUTE_MS = 60_000

/** Starts everything, loads it, and takes a sample each minute. `closeAll` removes all it has opened. */
export async function soak(given: SoakArguments, onSample: (sample: Sample) => void): Promise<Sample[]> {
  const { url, databaseUrl, processes } = await startTopology(given)
  const database = openDatabaseReader(databaseUrl)
  closeLater(() => database.close())
  const times = new OperationTimes()
  const load = startLoad({ client: createClient({ url }), times, ...given })
  closeLater(() => load.stop())
  const startedMs = performance.now()
  const samples: Sample[] = []
  for (let minute = 1; minute <= given.minutes; minute++) {
    await pauseUntil(startedMs + minute * MINUTE_MS)
    const [held, sizes] = await Promise.all([Promise.all(processes.map(readProcess)), database.read()])
    const sample: Sample = {
      minute,
      threads: load.threads,
      skipped: load.takeSkipped(),
      processes: held,
      database: sizes,
      operations: times.take(),
    }
    samples.push(sample)
    onSample(sample)
  }
  await load.stop()
  return samples
}

async function pauseUntil(atMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, atMs - performance.now())))
}
