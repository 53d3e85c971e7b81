import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '@heddle/client'
import type { Measured } from '@heddle/test-support/figure'
import { dismiss } from '@heddle/test-support/forked'
import { v7 as uuid } from 'uuid'
import { type Bench, withBench } from './bench.js'
import type { Sizes } from './catalog.js'
import { conversationOf } from './conversation.js'
import type { GatewayAnswer, GatewayOrder } from './gateway-process.js'
import { type Ask, Asker } from './offered-load.js'
import { MissingServer } from './servers.js'
import { percentile } from './statistics.js'

const GATEWAYS = 2
const MESSAGES = 200
const MESSAGES_PER_APPEND = 20
const BUDGET = 16_000
/** Enough to keep the workers busy and no more. */
const CAPACITY_AT_ONCE = 32
const CAPACITY_MS = 8_000
const CALM_SHARE = 0.8
const FLOOD_TIMES = 5
const QUIET_SHARE = 0.05
/** Enough answers for a percentile, however slow the machine. */
const QUIET_PER_SECOND_MIN = 0.5
/** Of `/healthz`, which asks nobody: what the machine itself takes to answer while it is as busy as that. */
const LIVES_PER_SECOND = 20
const LOOK_EVERY_MS = 200
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

/** What one project that asks for five times what the workers can do costs another one. */
export async function measureNoisy(sizes: Sizes): Promise<Measured[]> {
  try {
    return await withBench('redis', (bench) => measureOn(bench, sizes))
  } catch (error) {
    if (!(error instanceof MissingServer)) throw error
    return await withBench('embedded', (bench) => measureOn(bench, sizes))
  }
}

async function measureOn(bench: Bench, { noisySeconds }: Sizes): Promise<Measured[]> {
  const forMs = noisySeconds * 1_000
  const stages = await bench.startStages('ingest', 'prune', 'summarize', 'embed', 'assemble')
  const gateways = await Promise.all(Array.from({ length: GATEWAYS }, () => startGatewayProcess(bench)))
  const urls = gateways.map(({ url }) => url)
  const noisy = await settle(bench, urls, 'noisy')
  const quiet = await settle(bench, urls, 'quiet')
  try {
    const { doneMs } = await noisy.asker.closed(noisy.ask, CAPACITY_AT_ONCE, CAPACITY_MS)
    const capacity = doneMs.length / (CAPACITY_MS / 1_000)
    const beside = async (perSecond: number) => {
      const [loud, calm, lives] = await Promise.all([
        noisy.asker.open(noisy.ask, perSecond, forMs),
        quiet.asker.open(quiet.ask, Math.max(capacity * QUIET_SHARE, QUIET_PER_SECOND_MIN), forMs),
        quiet.asker.open(() => ({ path: '/healthz' }), LIVES_PER_SECOND, forMs),
      ])
      return { loud, calm, lives, p95: percentile(calm.doneMs, 0.95) }
    }
    const usual = await beside(capacity * CALM_SHARE)
    const depth = watchDepth(bench)
    const flood = await beside(capacity * FLOOD_TIMES)
    const waitingMax = await depth.stop()
    const lost = await countMissing(bench, noisy.acknowledged)
    const { loud, calm, lives } = flood
    const others = [...loud.others, ...calm.others, ...usual.calm.others].map(
      ([status, count]) => `${count} of ${status}`,
    )
    const note = [
      `capacity ${capacity.toFixed(0)}/s`,
      `${noisySeconds} s at ${CALM_SHARE} and ${FLOOD_TIMES} times that`,
      `${loud.doneMs.length} done, ${loud.refusedMs.length} refused, ${loud.unsent} not sent while all connections were in use`,
      `quiet project: p95 ${usual.p95.toFixed(0)} and ${flood.p95.toFixed(0)} ms, ${calm.refusedMs.length} of its refused`,
    ].join('; ')
    return [
      { name: 'noisy.p95', value: flood.p95, unit: 'ms', ceiling: usual.p95, target: '<= 2', note },
      { name: 'noisy.refusal', value: percentile(loud.refusedMs, 0.99), unit: 'ms', target: '<= 100' },
      { name: 'noisy.healthz', value: percentile(lives.doneMs, 0.99), unit: 'ms', note: 'p99 in the same flood' },
      { name: 'noisy.lost', value: lost, unit: 'messages', target: '<= 0', note: `of ${noisy.acknowledged.length}` },
      { name: 'noisy.unnamed', value: loud.withoutRetryAfter, unit: 'refusals', target: '<= 0' },
      { name: 'noisy.failed', value: others.length, unit: 'kinds of answers', target: '<= 0', note: others.join(', ') },
      { name: 'noisy.waiting', value: waitingMax, unit: 'jobs', note: 'ingest and assemble, waiting and active' },
    ]
  } finally {
    noisy.asker.close()
    quiet.asker.close()
    await Promise.all(gateways.map(({ stop }) => stop()))
    await stages.stop()
  }
}

interface Tenant {
  readonly asker: Asker
  /** Appends and builds in turn. */
  readonly ask: () => Ask
  /** Ids of messages that were said to be stored. */
  readonly acknowledged: string[]
}

async function settle(bench: Bench, urls: readonly string[], project: string): Promise<Tenant> {
  const client: Client = createClient({ store: bench.store, queues: bench.queues, project })
  const { key } = await client.keys.create({ name: 'bench', role: 'agent' })
  const [agent, thread] = ['agent', 'built']
  await client.agents.put(agent, { settings: { budget: BUDGET, rollingWindow: null } })
  await client.messages.append({ agent, thread, messages: conversationOf(MESSAGES) })
  await client.threads.waitUntilSettled(thread)
  const acknowledged: string[] = []
  let asked = 0
  const append = (): Ask => {
    const messages = conversationOf(MESSAGES_PER_APPEND).map((message) => ({ ...message, id: uuid() }))
    const onDone = () => acknowledged.push(...messages.map(({ id }) => id))
    return { path: `/v1/threads/${bench.fresh('appended')}/messages`, body: { agent, messages }, onDone }
  }
  const build = (): Ask => ({ path: `/v1/threads/${thread}/contexts`, body: { message: `question ${asked}` } })
  return { asker: new Asker(urls, key), ask: () => (asked++ % 2 === 0 ? append() : build()), acknowledged }
}

const script = fileURLToPath(new URL('./gateway-process.js', import.meta.url))

async function startGatewayProcess({ servers, place }: Bench): Promise<{ url: string; stop(): Promise<void> }> {
  const child = fork(script, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const { databaseUrl, queue } = servers
  child.send({ databaseUrl, queue, prefix: place.prefix } satisfies GatewayOrder)
  const [{ url }] = (await once(child, 'message')) as [GatewayAnswer]
  return { url, stop: () => dismiss(child) }
}

/** The most jobs that callers wait for, seen at one time. */
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
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
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

async function countMissing({ sql }: Bench, ids: readonly string[]): Promise<number> {
  let missing = ids.length
  for (let first = 0; first < ids.length; first += IDS_PER_LOOK) {
    const some = ids.slice(first, first + IDS_PER_LOOK)
    const rows = await sql`select id from heddle.messages where id = any(${some}::uuid[])`
    missing -= rows.length
  }
  return missing
}
