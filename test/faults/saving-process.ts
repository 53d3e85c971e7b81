import { startStages } from '@heddle/host'
import { openQueues } from '@heddle/queue'
import { createLogger, loadConfig, systemClock } from '@heddle/runtime'
import { openStore } from '@heddle/store'

/** A worker that saves snapshots, for a test that kills it. */
const [kind, queueUrl, databaseUrl, prefix, dataDir] = process.argv.slice(2)
if ((kind !== 'postgres' && kind !== 'redis') || !queueUrl || !databaseUrl || !prefix || !dataDir)
  throw new Error('usage')

const log = createLogger({ level: 'fatal', name: 'test' })
const store = openStore({ url: databaseUrl })
const queues = await openQueues({ backend: { kind, url: queueUrl }, prefix, log, create: true })
await startStages({
  store,
  queues,
  config: { ...loadConfig({ env: { HEDDLE_EMBEDDER: 'hashing' }, cwd: import.meta.dirname }), dataDir },
  log,
  clock: systemClock,
  stages: ['assemble'],
  reconcile: { everyMs: 500, patienceMs: 500 },
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
