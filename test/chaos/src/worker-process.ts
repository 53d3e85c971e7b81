import { tmpdir } from 'node:os'
import { HeddleError, type StageName, stageNames } from '@heddle/contracts'
import { type StagesOptions, startStages } from '@heddle/host'
import { openQueues } from '@heddle/queue'
import { createLogger, loadConfig, systemClock } from '@heddle/runtime'
import { openStore } from '@heddle/store'
import { logLevel, type Place, PROJECT, SERVER_AWAY_EXIT_CODE } from './place.js'
import { BLIND_APPLICATION } from './sabotage.js'

export interface WorkerOrder extends Place {
  readonly reconcile: StagesOptions['reconcile']
  /** Whether ingest cannot see stored messages. */
  readonly isBlind: boolean
}

const log = createLogger({ level: logLevel, name: 'chaos-worker' })

// The channel also closes when the parent was killed.
process.on('disconnect', () => process.exit())
process.on('message', (order: WorkerOrder) => {
  start(order).then(
    () => process.send?.('ready'),
    (error: unknown) => {
      log.warn({ error }, 'the workers could not be started')
      process.exit(error instanceof HeddleError && error.disposition === 'retry' ? SERVER_AWAY_EXIT_CODE : 1)
    },
  )
})

/** All stages with a reconciler, as `heddle worker all` runs them. */
async function start({ databaseUrl, queue, prefix, reconcile, isBlind }: WorkerOrder): Promise<void> {
  const queues = await openQueues({ backend: queue, prefix, log, create: true })
  const config = { ...loadConfig({ env: { HEDDLE_EMBEDDER: 'hashing' }, cwd: tmpdir() }), project: PROJECT }
  const deps = { queues, config, log, clock: systemClock }
  const store = openStore({ url: databaseUrl })
  const isLeft = (stage: StageName) => !isBlind || stage !== 'ingest'
  await startStages({ ...deps, store, stages: stageNames.filter(isLeft), reconcile })
  if (!isBlind) return
  const blind = openStore({ url: databaseUrl, applicationName: BLIND_APPLICATION })
  await startStages({ ...deps, store: blind, stages: ['ingest'], reconcile: false })
}
