import { createClient } from '@heddle/engine'
import { openQueues } from '@heddle/queue'
import { createLogger } from '@heddle/runtime'
import { openStore } from '@heddle/store'
import { closeAll, closeLater } from '@heddle/test-support/closing'
import type { Measured } from '@heddle/test-support/figure'
import { Crew } from './crew.js'
import { disturb } from './disturb.js'
import { figuresOf } from './figures.js'
import { countDeadLetters, inspect, waitUntilDrained } from './inspect.js'
import { Ledger } from './ledger.js'
import { type Place, PROJECT } from './place.js'
import { planFaults, WORKERS } from './plan.js'
import { AGENT, agentSettings } from './production.js'
import { Progress } from './progress.js'
import { type SabotageName, sabotageDatabase } from './sabotage.js'
import { type BackendName, openServers, type Servers } from './servers.js'
import type { Size } from './sizes.js'
import type { Settlement } from './users/requester-process.js'
import { startUsers } from './users/users.js'

export interface RunOptions {
  readonly backend: BackendName
  readonly size: Size
  readonly seed: number
  readonly sabotage: SabotageName | null
  readonly say: (line: string) => void
}

const PREFIX = 'chaos'

/** Produces, disturbs, waits until all threads have settled, and compares. Removes everything. */
export async function run(options: RunOptions): Promise<Measured[]> {
  try {
    return await runOnServers(options, await openServers(options.backend))
  } finally {
    await closeAll()
  }
}

async function runOnServers(options: RunOptions, servers: Servers): Promise<Measured[]> {
  const { backend, size, seed, sabotage, say } = options
  const startedMs = performance.now()
  const { databaseUrl } = servers.direct
  await prepare(servers)
  if (sabotage !== null) await sabotageDatabase(sabotage, databaseUrl)

  const place: Place = { ...servers.disturbed, prefix: PREFIX, seed }
  const crew = startCrew(place, options)
  await crew.whenUp(WORKERS)
  const books = { ledger: new Ledger(), progress: new Progress(size.messages), settlements: [] as Settlement[] }
  const goUsers = await startUsers(place, size, books)
  const plan = planFaults(seed, backend, size)
  const { killEveryMs } = size
  const { ledger, progress, settlements } = books
  const scene = { plan, servers, prefix: PREFIX, crew, progress, killEveryMs, say }
  const disturbance = await disturb(scene, goUsers())
  say(`${ledger.size} messages are acknowledged; waiting until the stages have caught up`)
  const until = { sinceMs: disturbance.lastFaultAtMs, secondsMax: size.drainSecondsMax, say }
  const drainedSeconds = await waitUntilDrained(databaseUrl, until)
  const { damage, facts } = await inspect(databaseUrl, ledger)
  return figuresOf({
    backend,
    size,
    damage,
    facts,
    drainedSeconds,
    settlements,
    disturbance,
    acknowledged: ledger.size,
    crashes: crew.crashes,
    deadLetters: await countDeadLetters(databaseUrl),
    seconds: (performance.now() - startedMs) / 1_000,
  })
}

/** Creates the agent, and the queues in their initial state. */
async function prepare({ direct }: Servers): Promise<void> {
  const log = createLogger({ level: 'silent', name: 'chaos' })
  const store = openStore({ url: direct.databaseUrl })
  const queues = await openQueues({ backend: direct.queue, prefix: PREFIX, log, create: true })
  const client = createClient({ store, queues, project: PROJECT })
  await client.agents.put(AGENT, { settings: agentSettings })
  await queues.close()
  await store.close()
}

function startCrew(place: Place, { sabotage, size }: RunOptions): Crew {
  const everyMs = size.reconcileEveryMs
  const timing = everyMs === null ? true : { everyMs, patienceMs: everyMs }
  const reconcile = sabotage === 'reconciler' ? false : timing
  const crew = new Crew({ ...place, reconcile, isBlind: sabotage === 'idempotency' }, WORKERS)
  closeLater(() => crew.stop())
  return crew
}
