import { tmpdir } from 'node:os'
import type { Client } from '@heddle/client/interface'
import { createClient } from '@heddle/engine'
import { loadConfig } from '@heddle/runtime'
import type { Measured } from '@heddle/test-support/figure'
import { type Bench, withBench } from '../bench.js'
import type { Sizes } from '../catalog.js'
import { conversationOf } from '../contexts/conversation.js'
import { MissingServer } from '../servers.js'
import { startFlood } from './flood.js'
import { startGatewayProcess } from './gateways.js'
import { LoopDelay } from './loop-delay.js'
import { Asker } from './offered-load.js'
import { percentile } from './statistics.js'
import { asksOf, type TenantNames } from './tenant.js'

const GATEWAYS = 2
const MESSAGES = 200
const BUDGET = 16_000
/** Enough to keep the workers busy and no more. */
const CAPACITY_AT_ONCE = 32
const CAPACITY_MS = 8_000
const CALM_SHARE = 0.8
const FLOOD_TIMES = 5
const QUIET_SHARE = 0.05
/** Enough answers for a percentile, however slow the machine. */
const QUIET_PER_SECOND_MIN = 0.5
/** For `/healthz`, which needs no other process: the delay of the machine itself under this load. */
const LIVES_PER_SECOND = 20
const POLL_EVERY_MS = 200
const IDS_PER_LOOK = 5_000

export const noisyNames = [
  'noisy.p95',
  'noisy.refusal',
  'noisy.healthz',
  'noisy.lost',
  'noisy.unnamed',
  'noisy.failed',
  'noisy.waiting',
]

/** The cost of a project that offers five times the capacity of the workers for another project. */
export async function measureNoisy(sizes: Sizes): Promise<Measured[]> {
  try {
    return await withBench('redis', (bench) => measureOn(bench, sizes))
  } catch (error) {
    if (!(error instanceof MissingServer)) throw error
    return await withBench('embedded', (bench) => measureOn(bench, sizes))
  }
}

/**
 * Gateways, workers and the noisy project have their own processes; the quiet project and the calls of `/healthz` are in this
 * one. Callers stand for clients on other machines, so the delay of each calling process is reported beside its times.
 */
async function measureOn(bench: Bench, { noisySeconds }: Sizes): Promise<Measured[]> {
  const forMs = noisySeconds * 1_000
  // Read as `heddle worker` reads it, so that other values can be tried.
  const { HEDDLE_WORKERS_NICENESS } = process.env
  const { niceness } = loadConfig({ env: { HEDDLE_WORKERS_NICENESS }, cwd: tmpdir() }).workers
  const stages = await bench.startStagesBehind(niceness, 'ingest', 'prune', 'summarize', 'embed', 'assemble')
  const gateways = await Promise.all(Array.from({ length: GATEWAYS }, () => startGatewayProcess(bench)))
  const urls = gateways.map(({ url }) => url)
  const [noisy, quiet] = [await settle(bench, 'noisy'), await settle(bench, 'quiet')]
  const flood = await startFlood({ urls, ...noisy })
  const asker = new Asker(urls, quiet.key)
  const calmly = asksOf(quiet)
  try {
    const { doneMs, acknowledged } = await flood.ask({ kind: 'closed', atOnce: CAPACITY_AT_ONCE, forMs: CAPACITY_MS })
    const capacity = doneMs.length / (CAPACITY_MS / 1_000)
    const beside = async (perSecond: number) => {
      const delay = new LoopDelay()
      await Promise.all(gateways.map((gateway) => gateway.delayMs()))
      const [loud, calm, lives] = await Promise.all([
        flood.ask({ kind: 'open', perSecond, forMs }),
        asker.open(calmly.next, Math.max(capacity * QUIET_SHARE, QUIET_PER_SECOND_MIN), forMs),
        asker.open(() => ({ path: '/healthz' }), LIVES_PER_SECOND, forMs),
      ])
      const delaysMs = await Promise.all(gateways.map((gateway) => gateway.delayMs()))
      return { loud, calm, lives, p95: percentile(calm.doneMs, 0.95), delaysMs, ownDelayMs: delay.stop() }
    }
    const usual = await beside(capacity * CALM_SHARE)
    const depth = watchDepth(bench)
    const loaded = await beside(capacity * FLOOD_TIMES)
    const waitingMax = await depth.stop()
    const told = [...acknowledged, ...usual.loud.acknowledged, ...loaded.loud.acknowledged, ...calmly.acknowledged]
    const lost = await countMissing(bench, told)
    const { loud, calm, lives } = loaded
    const others = [...loud.others, ...calm.others, ...usual.calm.others].map(
      ([status, count]) => `${count} of ${status}`,
    )
    const note = [
      `capacity ${capacity.toFixed(0)}/s, workers at niceness ${niceness}`,
      `${noisySeconds} s at ${CALM_SHARE} and ${FLOOD_TIMES} times that`,
      `${loud.doneMs.length} done, ${loud.refusedMs.length} refused, ${loud.unsent} not sent while all connections were in use`,
      `quiet project: p95 ${usual.p95.toFixed(0)} and ${loaded.p95.toFixed(0)} ms, ${calm.refusedMs.length} of its refused`,
    ].join('; ')
    const late = [
      `p99 as the noisy project saw it, p50 ${percentile(loud.refusedMs, 0.5).toFixed(0)} ms`,
      `how late processes were themselves, p99: who asked ${loud.ownDelayMs.toFixed(0)} ms`,
      `gateways ${loaded.delaysMs.map((ms) => ms.toFixed(0)).join(' and ')} ms`,
      `who asked for /healthz ${loaded.ownDelayMs.toFixed(0)} ms`,
    ].join('; ')
    return [
      { name: 'noisy.p95', value: loaded.p95, unit: 'ms', ceiling: usual.p95, target: '<= 2', note },
      { name: 'noisy.refusal', value: percentile(loud.refusedMs, 0.99), unit: 'ms', target: '<= 100', note: late },
      { name: 'noisy.healthz', value: percentile(lives.doneMs, 0.99), unit: 'ms', note: 'p99 in the same flood' },
      { name: 'noisy.lost', value: lost, unit: 'messages', target: '<= 0', note: `of ${told.length}` },
      { name: 'noisy.unnamed', value: loud.withoutRetryAfter, unit: 'refusals', target: '<= 0' },
      { name: 'noisy.failed', value: others.length, unit: 'kinds of answers', target: '<= 0', note: others.join(', ') },
      { name: 'noisy.waiting', value: waitingMax, unit: 'jobs', note: 'ingest and assemble, waiting and active' },
    ]
  } finally {
    asker.close()
    await flood.stop()
    await Promise.all(gateways.map(({ stop }) => stop()))
    await stages.stop()
  }
}

export interface Tenant extends TenantNames {
  readonly key: string
}

export async function settle(bench: Bench, project: string): Promise<Tenant> {
  const client: Client = createClient({ store: bench.store, queues: bench.queues, project })
  const { key } = await client.keys.create({ name: 'bench', role: 'agent' })
  const [agent, thread] = ['agent', 'built']
  await client.agents.put(agent, { settings: { budget: BUDGET, rollingWindow: null } })
  await client.messages.append({ agent, thread, messages: conversationOf(MESSAGES) })
  await client.threads.waitUntilSettled(thread)
  return { key, agent, thread }
}

/** The maximum number of jobs with waiting callers at one time. */
function watchDepth({ queues }: Bench): { stop(): Promise<number> } {
  let most = 0
  let isOver = false
  const watch = async () => {
    while (!isOver) {
      const stats = await queues.stats()
      const shared = stats.filter(({ stage }) => stage === 'ingest' || stage === 'assemble')
      most = Math.max(
        most,
        shared.reduce((sum, { waiting, active }) => sum + waiting + active, 0),
      )
      await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS))
    }
  }
  const watched = watch()
  return {
    async stop() {
      isOver = true
      await watched
      return most
    },
  }
}

export async function countMissing({ sql }: Bench, ids: readonly string[]): Promise<number> {
  let missing = ids.length
  for (let first = 0; first < ids.length; first += IDS_PER_LOOK) {
    const some = ids.slice(first, first + IDS_PER_LOOK)
    const rows = await sql`select id from heddle.messages where id = any(${some}::uuid[])`
    missing -= rows.length
  }
  return missing
}
