import type { Measured } from '@heddle/test-support/figure'
import { type Bench, withBench } from './bench.js'
import { forecastNames, measureForecast } from './capacity/forecast.js'
import { stageBacklogs } from './capacity/stage-backlogs.js'
import { measureBuilds, measureCachedBuild, measureLongBuild } from './contexts/build.js'
import { measurePruning } from './contexts/pruning.js'
import { measureLongSummary } from './contexts/summarizing.js'
import { measureBatchIngest, measureCountedIngest } from './ingest/ingest-batch.js'
import { measurePoison } from './ingest/ingest-poison.js'
import { measureSingleIngest } from './ingest/ingest-single.js'
import { measureTracedIngest } from './ingest/ingest-traced.js'
import { measureManyClients } from './load/clients.js'
import { demandNames, measureDemand } from './load/demand.js'
import { measureHttp } from './load/http.js'
import { measureMovedProject, movedNames } from './load/moved-project.js'
import { measureNoisy, noisyNames } from './load/noisy.js'
import { measureNoisyDoors, noisyDoorNames } from './load/noisy-doors.js'
import { measurePools, poolNames } from './load/pools.js'
import { measureProxy, proxyNames } from './proxy/measure.js'
import { measureEmbedding } from './search/embedding.js'
import { measureIndexed } from './search/indexed.js'
import { measureItemEmbedding } from './search/item-embedding.js'
import { measureRecall } from './search/recall.js'
import { measureSearch } from './search/search.js'
import { measureStoredToSearchable } from './search/stored.js'
import type { BackendName } from './servers.js'
import { measureSessionStorage, measureSmallStorage, measureSmallStorageBesideRedis } from './storage/storage.js'
import { measureAppendTurns } from './turn/append.js'
import { measureFullTurns } from './turn/full.js'
import { measurePausedTurns } from './turn/paused.js'

/** The parameters of a measurement. */
export interface Sizes {
  /** Figures selected by name; null means all. */
  readonly only: readonly string[] | null
  /** Messages of the long thread. */
  readonly messages: number
  /** Contexts that many clients request in all. */
  readonly replies: number
  /** Chunks of the searched scope. */
  readonly chunks: number
  /** Seconds of each phase beside a noisy neighbour. */
  readonly noisySeconds: number
  /** Seconds that a pool works in each of its sizes. */
  readonly poolSeconds: number
  /** The capacity plan to which measured costs are added; null if it was not given. */
  readonly planPath: string | null
  /** The folder of recorded sessions; null if it was not given. */
  readonly dataDir: string | null
}

/** A measurement of one or more figures together. */
export interface BackendMeasurement {
  /** Without the backend. */
  readonly names: readonly string[]
  measure(bench: Bench, sizes: Sizes): Promise<Measured[]>
}

export interface PlainMeasurement {
  readonly names: readonly string[]
  measure(sizes: Sizes): Promise<Measured[]>
}

/** Run one after another, each on a database of its own. */
export const onBackends: readonly BackendMeasurement[] = [
  { names: ['ingest.single'], measure: measureSingleIngest },
  { names: ['ingest.batch', 'ingest.memory'], measure: measureBatchIngest },
  { names: ['ingest.counted'], measure: measureCountedIngest },
  { names: ['ingest.poison'], measure: measurePoison },
  { names: ['ingest.traced', 'ingest.traced.cpu'], measure: measureTracedIngest },
  {
    names: ['turn.append1', 'turn.append1.took', 'turn.append1.http', 'turn.append100'],
    measure: measureAppendTurns,
  },
  {
    names: ['build.thread1k', 'build.prebuilt', 'build.grown', 'build.unsettled', 'build.cold', 'build.62k'],
    measure: measureBuilds,
  },
  {
    names: ['build.clients64', 'build.clients64.p50', 'build.clients64.p99', 'build.clients64.lost'],
    measure: measureManyClients,
  },
  {
    names: [
      'turn.one1k',
      'turn.full1k',
      'turn.full10k',
      'turn.full100k',
      'turn.memory',
      'turn.first1k',
      'turn.first10k',
      'turn.first100k',
    ],
    measure: measureFullTurns,
  },
  { names: ['turn.paused1k', 'turn.paused1k.http'], measure: measurePausedTurns },
  { names: demandNames, measure: measureDemand },
  { names: ['build.cached100k'], measure: measureCachedBuild },
  { names: ['build.thread1m'], measure: measureLongBuild },
]

export const plain: readonly PlainMeasurement[] = [
  { names: ['prune.thread10k'], measure: () => withBench('embedded', measurePruning) },
  {
    names: ['summary.thread2m.calls', 'summary.thread2m.memory', 'summary.thread2m.took'],
    measure: () => withBench('embedded', measureLongSummary),
  },
  { names: ['http.added.append', 'http.added.build'], measure: () => withBench('embedded', measureHttp) },
  { names: proxyNames, measure: measureProxy },
  { names: noisyNames, measure: measureNoisy },
  { names: noisyDoorNames, measure: measureNoisyDoors },
  { names: poolNames, measure: measurePools },
  ...stageBacklogs.map((backlog) => ({
    names: forecastNames(backlog),
    measure: (sizes: Sizes) => measureForecast(backlog, sizes),
  })),
  { names: movedNames, measure: measureMovedProject },
  { names: ['recall.range'], measure: () => withBench('embedded', measureRecall) },
  {
    names: ['search.words', 'search.vectors', 'search.fused', 'search.cold', 'search.memory'],
    measure: (sizes) => withBench('embedded', (bench) => measureSearch(bench, sizes)),
  },
  {
    names: ['search.indexed.words', 'search.indexed.vectors', 'search.indexed.fused', 'search.indexed.build'],
    measure: () => withBench('embedded', measureIndexed),
  },
  {
    names: ['search.stored.p50', 'search.stored.p99', 'search.stored.searches.p50', 'search.stored.searches.p99'],
    measure: () => withBench('embedded', measureStoredToSearchable),
  },
  {
    names: ['embed.throughput', 'embed.loopDelay', 'embed.start', 'embed.chunk', 'embed.hashing'],
    measure: measureEmbedding,
  },
  { names: ['storage.small'], measure: () => withBench('postgres', measureSmallStorage) },
  { names: ['storage.small.redis'], measure: measureSmallStorageBesideRedis },
  { names: ['storage.session', 'storage.messages'], measure: measureSessionStorage },
  {
    names: ['embed.items', 'embed.items.changed'],
    measure: () => withBench('embedded', measureItemEmbedding),
  },
]

export function nameOn(name: string, backend: BackendName): string {
  return `${name}.${backend}`
}
