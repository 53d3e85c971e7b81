import { setTimeout as wait } from 'node:timers/promises'
import { closeAll } from '@heddle/test-support/closing'
import type { Measured } from '@heddle/test-support/figure'
import { Availability } from '../cluster/availability.js'
import { countDeadLetters, inspect, waitUntilDrained } from '../inspect.js'
import { Ledger } from '../ledger.js'
import { threadName } from '../production.js'
import { Progress } from '../progress.js'
import type { BackendName } from '../servers.js'
import type { Size } from '../sizes.js'
import type { Settlement } from '../users/requester-process.js'
import { Crowd, type Way } from './crowd.js'
import { readDoorLog } from './gateway-door.js'
import { type Installation, openInstallation } from './installation.js'
import { rollingFigures } from './rolling-figures.js'
import { readWarnings } from './service-warnings.js'
import { upgrade } from './upgrade.js'
import { currentVersion, type Version } from './versions.js'

export interface RollingOptions {
  readonly backend: BackendName
  readonly from: Version
  /** For which users work at least. */
  readonly minutes: number
  readonly gatewaysFirst: boolean
  readonly size: Size
  readonly seed: number
  readonly say: (line: string) => void
}

/** Pauses of an upgrade: two of most steps, in one of which both versions of a service work. */
const PAUSES = 20
/** Of the time that users work, before the migration and after the last step. */
const SHARE_BEFORE = 0.15
const MINUTE_MS = 60_000
const POLL_MS = 200

/**
 * Upgrades an installation of its own under load, waits until all threads have settled, and compares. Removes everything; the
 * warnings of a run that failed are reported first.
 */
export async function runRolling(options: RollingOptions): Promise<Measured[]> {
  const { backend, from, say } = options
  try {
    const installation = await openInstallation(backend, from, say)
    try {
      return await runOn(options, installation)
    } catch (error) {
      for (const [kind, count] of await readWarnings(installation.hosts)) say(`${count} ${kind}`)
      throw error
    }
  } finally {
    await closeAll()
  }
}

async function runOn(options: RollingOptions, installation: Installation): Promise<Measured[]> {
  const { backend, from, minutes, gatewaysFirst, size, seed, say } = options
  const startedMs = performance.now()
  const { adminUrl, stages, gateways, hosts, door } = installation
  const [ledger, progress] = [new Ledger(), new Progress(size.messages)]
  const available = { append: new Availability(), context: new Availability() }
  const openBooks = () => {
    const counts = { appends: 0, refused: [] as string[], settlements: [] as Settlement[] }
    const onSuccess = (of: 'append' | 'context') => {
      available[of].note(performance.now())
      if (of === 'append') counts.appends++
    }
    const onRefused = (code: string) => void counts.refused.push(code)
    return { ledger, progress, ...counts, counts, onSuccess, onRefused }
  }
  const books: Record<Way, ReturnType<typeof openBooks>> = { http: openBooks(), queue: openBooks() }
  const crowd = await Crowd.start(installation, { seed, size, version: from, books })
  const usedFromMs = performance.now()
  say(`${from.name} serves ${stages.size} stages and ${gateways.length} gateways on ${backend}; users work`)
  const threads = () => [...ledger.threads()].length
  while (threads() < size.threads) await Promise.race([wait(POLL_MS), crowd.whenFinished()])
  const requestedFromMs = performance.now()
  const requested = crowd.requestContexts()
  const workMs = minutes * MINUTE_MS
  await wait(workMs * SHARE_BEFORE)
  const upgrading = upgrade(installation, crowd, {
    from,
    to: currentVersion,
    gatewaysFirst,
    pauseMs: (workMs * (1 - 2 * SHARE_BEFORE)) / PAUSES,
    threads: Array.from({ length: size.threads }, (_, thread) => threadName(thread)),
    say,
  })
  // A user that cannot continue ends the run.
  const upgraded = await Promise.race([upgrading, crowd.whenFinished().then(() => upgrading)])
  await wait(workMs * SHARE_BEFORE)
  await Promise.all([crowd.finish(), requested])
  const toMs = performance.now()
  const used = { append: { fromMs: usedFromMs, toMs }, context: { fromMs: requestedFromMs, toMs } }
  say(`${ledger.size} messages are acknowledged; waiting until the stages have caught up`)
  const until = { sinceMs: performance.now(), secondsMax: size.drainSecondsMax, say }
  const drainedSeconds = await waitUntilDrained(adminUrl, until)
  const { damage } = await inspect(adminUrl, ledger)
  const services = [...stages.values(), ...gateways.map(({ service }) => service)]
  return rollingFigures({
    backend,
    size,
    ways: { http: books.http.counts, queue: books.queue.counts },
    damage,
    acknowledged: ledger.size,
    available,
    used,
    upgraded,
    door: await readDoorLog(door),
    crashes: services.reduce((sum, { crashes }) => sum + crashes, 0),
    deadLetters: await countDeadLetters(adminUrl),
    warnings: await readWarnings(hosts),
    drainedSeconds,
    seconds: (performance.now() - startedMs) / 1_000,
  })
}
