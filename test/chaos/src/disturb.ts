import { setTimeout as wait } from 'node:timers/promises'
import { openQueues, type Queues } from '@heddle/queue'
import { createLogger } from '@heddle/runtime'
import { emptyQueues, trimEvents } from '@heddle/test-support/servers/queue-server'
import { waitFor } from '@heddle/test-support/wait-for'
import type { Crew } from './crew.js'
import type { Fault, Plan } from './plan.js'
import type { Progress } from './progress.js'
import type { Servers } from './servers.js'

export interface Scene {
  readonly plan: Plan
  readonly servers: Servers
  /** Of the queues. */
  readonly prefix: string
  readonly crew: Crew
  readonly progress: Progress
  /** Interval between kills of a worker, in milliseconds. */
  readonly killEveryMs: number
  readonly say: (line: string) => void
}

export interface Disturbance {
  /** Number of faults of each kind. */
  readonly faults: ReadonlyMap<string, number>
  /** In the time of `performance.now()`. */
  readonly lastFaultAtMs: number
}

/** From this share on the stages after ingest are paused, so that messages stored then have wake-ups to lose at the end. */
const GATHER_WAKES_FROM_SHARE = 0.9
const TELL_EVERY_MS = 10_000
const GATHERED = ['prune', 'summarize', 'embed'] as const

/**
 * Disturbs a run until its users have finished: a worker is killed at intervals, and the planned faults happen one by
 * one. At the very end all workers die and the queues lose everything, so that only the store knows the remaining work.
 */
export async function disturb(scene: Scene, users: Promise<unknown>): Promise<Disturbance> {
  const faults = new Map<string, number>()
  const note = (kind: string) => faults.set(kind, (faults.get(kind) ?? 0) + 1)
  const done = new AbortController()
  const used = users.finally(() => done.abort())
  const report = setInterval(() => tellProgress(scene), TELL_EVERY_MS)
  done.signal.addEventListener('abort', () => clearInterval(report))
  await Promise.all([
    used,
    killWorkers(scene, done.signal, () => note('worker-killed')),
    inflictPlanned(scene, note),
    scene.progress
      .reaches(GATHER_WAKES_FROM_SHARE)
      .then(() => onGathered(scene, (queues, stage) => queues.pause(stage))),
  ])
  await inflict(scene, { kind: 'queues-emptied' })
  note('queues-emptied')
  const lastFaultAtMs = performance.now()
  await onGathered(scene, (queues, stage) => queues.resume(stage))
  return { faults, lastFaultAtMs }
}

function tellProgress({ progress, crew, say }: Scene): void {
  say(`${(progress.share * 100).toFixed(1)} % is acknowledged, ${crew.up} workers are up`)
}

async function killWorkers({ crew, plan, killEveryMs }: Scene, done: AbortSignal, note: () => void): Promise<void> {
  for (;;) {
    await wait(killEveryMs, undefined, { signal: done }).catch(() => {})
    if (done.aborted) return
    await crew.kill(plan.nextVictim())
    note()
  }
}

async function inflictPlanned(scene: Scene, note: (kind: string) => void): Promise<void> {
  for (const fault of scene.plan.faults) {
    await scene.progress.reaches(fault.atShare)
    const startedMs = performance.now()
    await inflict(scene, fault)
    note(fault.kind)
    scene.say(`${JSON.stringify(fault)} took ${Math.round(performance.now() - startedMs)} ms`)
  }
}

async function inflict({ servers, prefix, crew }: Scene, fault: Fault): Promise<void> {
  switch (fault.kind) {
    case 'redis-killed':
      return await servers.killRedis()
    case 'postgres-restarted':
      return await servers.restartPostgres()
    case 'worker-paused':
      return await crew.pause(fault.worker, fault.forMs)
    case 'connections-cut':
      return servers.proxies[fault.server]?.cut()
    case 'server-silent':
      servers.proxies[fault.server]?.silence()
      await wait(fault.forMs)
      return servers.proxies[fault.server]?.speak()
    case 'jobs-removed':
      return await onQueues(servers, prefix, async (queues) => void (await queues.removeJobs(() => true)))
    case 'events-trimmed':
      return await trimEvents({ backend: servers.direct.queue, prefix }, servers.direct.databaseUrl)
    case 'queues-emptied':
      await crew.killAll()
      return await emptyQueues({ backend: servers.direct.queue, prefix })
  }
}

/** Repeated, since this server may be down as well. */
async function onGathered(
  { servers, prefix }: Scene,
  work: (queues: Queues, stage: (typeof GATHERED)[number]) => Promise<void>,
): Promise<void> {
  await onQueues(servers, prefix, async (queues) => {
    for (const stage of GATHERED) await work(queues, stage)
  })
}

async function onQueues({ direct }: Servers, prefix: string, work: (queues: Queues) => Promise<void>): Promise<void> {
  const log = createLogger({ level: 'silent', name: 'chaos' })
  const attempt = async () => {
    const queues = await openQueues({ backend: direct.queue, prefix, log, create: true })
    try {
      await work(queues)
      return true
    } finally {
      await queues.close({ timeoutMs: 0 })
    }
  }
  await waitFor(attempt, { what: 'the queues to take a command', timeoutMs: 60_000 })
}
