import type { Measured } from '@heddle/test-support/figure'
import { type Bench, withBench } from './bench.js'
import { measureBuilds, measureLongBuild } from './build.js'
import { measureEmbedding } from './embedding.js'
import { measureBatchIngest, measureCountedIngest } from './ingest-batch.js'
import { measurePoison } from './ingest-poison.js'
import { measureSingleIngest } from './ingest-single.js'
import { measurePruning } from './pruning.js'
import { measureRecall } from './recall.js'
import type { BackendName } from './servers.js'

/** What one measurement is told from outside. */
export interface Sizes {
  /** Messages of the long thread. */
  readonly messages: number
}

/** A measurement gives one or more figures, which are measured together. */
export interface BackendMeasurement {
  /** Without the backend. */
  readonly names: readonly string[]
  measure(bench: Bench, sizes: Sizes): Promise<Measured[]>
}

export interface PlainMeasurement {
  readonly names: readonly string[]
  measure(): Promise<Measured[]>
}

/** One after another on a database of their own, in this order: the long thread last, because it makes the tables large. */
export const onBackends: readonly BackendMeasurement[] = [
  { names: ['ingest.single'], measure: measureSingleIngest },
  { names: ['ingest.batch', 'ingest.memory'], measure: measureBatchIngest },
  { names: ['ingest.counted'], measure: measureCountedIngest },
  { names: ['ingest.poison'], measure: measurePoison },
  { names: ['build.thread1k', 'build.unsettled', 'build.cold', 'build.62k'], measure: measureBuilds },
  { names: ['build.thread1m'], measure: measureLongBuild },
]

export const plain: readonly PlainMeasurement[] = [
  { names: ['prune.thread10k'], measure: () => withBench('embedded', measurePruning) },
  { names: ['recall.range'], measure: () => withBench('embedded', measureRecall) },
  { names: ['embed.throughput', 'embed.hashing'], measure: measureEmbedding },
]

export function nameOn(name: string, backend: BackendName): string {
  return `${name}.${backend}`
}
