import { setTimeout as wait } from 'node:timers/promises'
import { closeAll } from '@heddle/test-support/closing'
import type { Measured } from '@heddle/test-support/figure'
import { countDeadLetters, inspect, waitUntilDrained } from '../inspect.js'
import { Ledger } from '../ledger.js'
import { Progress } from '../progress.js'
import type { Size } from '../sizes.js'
import type { Settlement } from '../users/requester-process.js'
import { startUsers } from '../users/users.js'
import { Availability, type Span } from './availability.js'
import { type Cluster, openCluster } from './cluster.js'
import { clusterFigures, type FaultSpan } from './cluster-figures.js'
import type { ClusterName } from './cluster-names.js'
import { faultsOf, inflictOnCluster, killAllLeaders } from './faults.js'
import type { Slowness } from './slowness.js'

export interface ClusterRunOptions {
  readonly name: ClusterName
  readonly size: Size
  readonly seed: number
  readonly slowness: Slowness
  readonly say: (line: string) => void
}

/** Between the end of a fault and the next one. */
const PAUSE_MS = 5_000
/** Before the first one: contexts of threads that do not exist yet are refused. */
const FIRST_PAUSE_MS = 15_000

/** Produces, disturbs, waits until all threads have settled, and compares. Removes everything. */
export async function runCluster(options: ClusterRunOptions): Promise<Measured[]> {
  try {
    return await runOn(options, await openCluster(options))
  } finally {
    await closeAll()
  }
}

async function runOn({ name, size, seed, say }: ClusterRunOptions, cluster: Cluster): Promise<Measured[]> {
  const startedMs = performance.now()
  const { databaseUrl, gateway, services } = cluster
  const available = { append: new Availability(), context: new Availability() }
  const books = {
    ledger: new Ledger(),
    progress: new Progress(size.messages),
    settlements: [] as Settlement[],
    onSuccess: (of: 'append' | 'context') => available[of].note(performance.now()),
  }
  const goUsers = await startUsers({ seed, gateway }, size, books)
  const usedFromMs = performance.now()
  const spans = await disturbCluster(cluster, goUsers(), say)
  const used: Span = { fromMs: usedFromMs, toMs: performance.now() }
  const bringBack = await killAllLeaders(cluster)
  const lastFaultAtMs = performance.now()
  say(`${books.ledger.size} messages are acknowledged; the leader is dead, waiting until the stages have caught up`)
  const until = { sinceMs: lastFaultAtMs, secondsMax: size.drainSecondsMax, say }
  const [drainedSeconds] = await Promise.all([waitUntilDrained(databaseUrl, until), bringBack()])
  const { damage, facts } = await inspect(databaseUrl, books.ledger)
  return clusterFigures({
    name,
    size,
    damage,
    facts,
    drainedSeconds,
    spans,
    used,
    available,
    settlements: books.settlements,
    acknowledged: books.ledger.size,
    crashes: services.all.reduce((sum, { crashes }) => sum + crashes, 0),
    deadLetters: await countDeadLetters(databaseUrl),
    seconds: (performance.now() - startedMs) / 1_000,
  })
}

/** Inflicts one fault after the other until the users have finished. */
async function disturbCluster(
  cluster: Cluster,
  users: Promise<void>,
  say: (line: string) => void,
): Promise<FaultSpan[]> {
  const spans: FaultSpan[] = []
  let isOver = false
  const used = users.finally(() => {
    isOver = true
  })
  const disturbing = async () => {
    for (let round = 0; ; round++) {
      for (const fault of faultsOf(cluster)) {
        await Promise.race([wait(spans.length === 0 ? FIRST_PAUSE_MS : PAUSE_MS), used])
        if (isOver) return
        const fromMs = performance.now()
        await inflictOnCluster(cluster, fault, round)
        const span: Span = { fromMs, toMs: performance.now() }
        spans.push({ fault, ...span })
        say(`${fault} took ${Math.round(span.toMs - fromMs)} ms`)
      }
    }
  }
  await Promise.all([used, disturbing()])
  return spans
}
