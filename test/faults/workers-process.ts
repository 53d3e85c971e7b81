import { stageNames } from '@heddle/contracts'
import { startStages } from '@heddle/host'
import { openQueues } from '@heddle/queue'
import { createLogger, loadConfig, systemClock } from '@heddle/runtime'
import { openStore } from '@heddle/store'

/** All workers with a reconciler, as `heddle worker all` runs them, for tests that kill them. */
const [kind, queueUrl, prefix, databaseUrl] = process.argv.slice(2)
if ((kind !== 'postgres' && kind !== 'redis') || !queueUrl || !prefix || !databaseUrl) throw new Error('usage')

const log = createLogger({ level: 'fatal', name: 'test' })
const store = openStore({ url: databaseUrl })
const queues = await openQueues({ backend: { kind, url: queueUrl }, prefix, log, create: true })
await startStages({
  store,
  queues,
  config: loadConfig({ env: { HEDDLE_EMBEDDER: 'hashing' }, cwd: import.meta.dirname }),
  log,
  clock: systemClock,
  stages: stageNames,
  reconcile: { everyMs: 1_000, patienceMs: 1_000 },
})
process.stdout.write('ready\n')
