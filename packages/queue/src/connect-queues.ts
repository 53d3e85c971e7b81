import { randomUUID } from 'node:crypto'
import { stageNames, validationError } from '@heddle/contracts'
import { type Clock, systemClock } from '@heddle/runtime'
import type { Backend } from './base/backend.js'
import { bounds } from './base/bounds.js'
import { namedError } from './base/errors.js'
import { openBackend, warnOfSettings } from './base/open-backend.js'
import { createTroubleLog } from './base/trouble-log.js'
import { unknownPrefix } from './base/unknown-prefix.js'
import { bounded, settles } from './base/waiting.js'
import type { Queues } from './queues.js'
import type { QueuesOptions } from './queues-options.js'
import { poolChannel } from './reply/wire-format.js'
import { ServerQueues } from './server-queues.js'
import { Pools } from './worker/worker-stats.js'

/** See `openQueues`. */
export async function connectQueues(options: QueuesOptions): Promise<Queues> {
  const { prefix, log, clock = systemClock, create = false } = options
  if (!/^[a-z][a-z0-9_-]{0,39}$/.test(prefix)) {
    throw validationError('prefix', 'must be 1 to 40 of a-z, 0-9, _ and -, starting with a letter', prefix)
  }
  const server = options.backend.kind === 'redis' ? 'Redis' : 'Postgres'
  const trouble = createTroubleLog({ log, clock, server, probe: () => bounded(backend.probe(), backend.server) })
  const onError = (error: unknown) => trouble.report(error, 'connection to the queues failed')
  const backend = await openBackend({ ...options, clock, create, onError }).catch((error: unknown) => {
    trouble.close()
    throw error
  })
  const name = randomUUID().replaceAll('-', '').slice(0, 16)
  const pools = new Pools({ name, clock, publish: (text) => backend.channels.send(poolChannel(prefix), text) })
  if (!create) await assertKnown(backend, prefix, { pools, clock })
  const { ingestLimits } = options
  const queues = new ServerQueues({ name, prefix, backend, pools, trouble, onError, clock, log, ingestLimits })
  if (create) await warnOfSettings(bounded(backend.facts(), backend.server), log).catch(onError)
  try {
    await queues.listen()
  } catch (error) {
    await queues.close({ timeoutMs: 0 })
    throw error
  }
  return queues
}

/**
 * Checks that workers serve a prefix, before anything is created under it. Workers of an earlier version did not mark their
 * prefix, but they answer a request for their reports.
 */
async function assertKnown(
  backend: Backend,
  prefix: string,
  { pools, clock }: { pools: Pools; clock: Clock },
): Promise<void> {
  try {
    if (await backend.isKnown()) return
    await backend.channels.listen(poolChannel(prefix), (text) => pools.receive(text))
    await pools.requestReports()
    await clock.wait(bounds.poolAnswerMs)
    if (stageNames.some((stage) => pools.workersOf(stage) > 0)) return
    throw unknownPrefix(prefix, backend.server, await backend.otherPrefixes())
  } catch (error) {
    pools.close()
    await settles(backend.close(), 2_000)
    throw namedError(error, backend.server)
  }
}
