import type { StageName } from '@heddle/contracts'
import type { Measured } from '@heddle/test-support/figure'
import { v7 as uuid } from 'uuid'
import { type Bench, withBench } from '../bench.js'
import type { Sizes } from '../catalog.js'
import { conversationOf } from '../contexts/conversation.js'
import { build, settledThreads } from '../contexts/one-build.js'
import { MissingServer } from '../servers.js'
import type { Workers } from '../workers.js'

/** The scaled stages, one at a time while the others have one worker. */
const scaled = ['ingest', 'embed', 'assemble'] as const
type Scaled = (typeof scaled)[number]

const SIZES = [1, 4, 1]
const PRODUCERS = 64
const REQUESTERS = 64
const THREADS_EACH = 8
const THREADS_BUILT = 4
const MESSAGES_PER_APPEND = 20
const DEADLINE_MS = 120_000
/** Messages stored for each second before the embed pool is scaled, since vectors are computed faster than messages are stored. */
const BACKLOG_PER_SECOND = 2_000
const IDS_PER_LOOK = 5_000
const SETTLED_MS_MAX = 300_000
const POLL_EVERY_MS = 250
const LOOKS_MAX = 20

export const poolNames = [...scaled.map((stage) => `pools.${stage}`), 'pools.lost', 'pools.unanswered', 'pools.unseen']

/** The throughput of each pool with one worker, with four and with one again, under load, and the losses meanwhile. */
export async function measurePools(sizes: Sizes): Promise<Measured[]> {
  try {
    return await withBench('redis', (bench) => measureOn(bench, sizes))
  } catch (error) {
    if (!(error instanceof MissingServer)) throw error
    return await withBench('embedded', (bench) => measureOn(bench, sizes))
  }
}

async function measureOn(bench: Bench, { poolSeconds }: Sizes): Promise<Measured[]> {
  const built = await settledThreads(bench, THREADS_BUILT)
  const load = new Load(bench, built)
  const rest = await bench.startStages('prune', 'summarize')
  const pools = new Map<Scaled, Workers[]>()
  for (const stage of ['ingest', 'assemble'] as const) pools.set(stage, [await bench.startStages(stage)])
  await load.appendAll(poolSeconds * SIZES.length * BACKLOG_PER_SECOND)
  pools.set('embed', [await bench.startStages('embed')])
  const figures: Measured[] = []
  let unseen = 0
  for (const stage of scaled) {
    const rates: number[] = []
    for (const size of SIZES) {
      await resize(bench, stage, pools.get(stage) ?? [], size)
      rates.push(await load.during(stage, poolSeconds * 1_000))
      if (!(await isSeen(bench, stage, size))) unseen++
    }
    figures.push(figureOf(stage, rates, poolSeconds))
  }
  await load.untilEmbedded()
  const lost = await load.countMissing()
  for (const workers of [...pools.values(), [rest]]) await Promise.all(workers.map((each) => each.stop()))
  return [
    ...figures,
    { name: 'pools.lost', value: lost, unit: 'messages', target: '<= 0', note: `of ${load.acknowledged.length}` },
    {
      name: 'pools.unanswered',
      value: load.failures.length,
      unit: 'calls',
      target: '<= 0',
      note: load.failures[0] ?? '',
    },
    { name: 'pools.unseen', value: unseen, unit: 'sizes', target: '<= 0', note: 'that the queues did not tell of' },
  ]
}

function figureOf(stage: Scaled, rates: readonly number[], seconds: number): Measured {
  const [before = 0, four = 0, after = 0] = rates
  const one = (before + after) / 2
  const unit = stage === 'assemble' ? 'contexts/s' : 'messages/s'
  const each = rates.map((rate, index) => `${(rate / (SIZES[index] ?? 1)).toFixed(0)} a worker with ${SIZES[index]}`)
  return {
    name: `pools.${stage}`,
    value: four,
    unit,
    ceiling: one,
    note: `four workers beside one; ${each.join(', ')}; ${seconds} s each`,
  }
}

/** Workers start one after another, and stop as on SIGTERM, with active jobs. */
async function resize(bench: Bench, stage: StageName, workers: Workers[], size: number): Promise<void> {
  while (workers.length < size) workers.push(await bench.startStages(stage))
  await Promise.all(workers.splice(size).map((each) => each.stop()))
}

/** Whether the queues report, within a moment, the actual number of workers. */
async function isSeen({ queues }: Bench, stage: Scaled, size: number): Promise<boolean> {
  for (let look = 0; look < LOOKS_MAX; look++) {
    await queues.requestReports()
    const stats = await queues.stats()
    if (stats.find((each) => each.stage === stage)?.pool.workers === size) return true
  }
  return false
}

/** The callers that append and request contexts, and their results. */
class Load {
  readonly #bench: Bench
  readonly #built: readonly string[]
  readonly acknowledged: string[] = []
  readonly failures: string[] = []
  #answered = 0

  constructor(bench: Bench, built: readonly string[]) {
    this.#bench = bench
    this.#built = built
  }

  /** Appends this many messages, as fast as they are accepted. */
  async appendAll(count: number): Promise<void> {
    let left = count
    await this.#atOnce(
      PRODUCERS,
      () => left > 0,
      (producer) => {
        left -= MESSAGES_PER_APPEND
        return this.#append(producer)
      },
    )
  }

  /** Keeps a stage busy. @returns its throughput per second */
  async during(stage: Scaled, forMs: number): Promise<number> {
    const startedMs = performance.now()
    const isOn = () => performance.now() < startedMs + forMs
    const before = await this.#done(stage)
    const busy = this.#atOnce(stage === 'assemble' ? REQUESTERS : PRODUCERS, isOn, (index) =>
      stage === 'assemble' ? this.#ask(index) : this.#append(index),
    )
    await new Promise((resolve) => setTimeout(resolve, forMs))
    const seconds = (performance.now() - startedMs) / 1_000
    const perSecond = ((await this.#done(stage)) - before) / seconds
    await busy
    return perSecond
  }

  async untilEmbedded(): Promise<void> {
    const endsMs = performance.now() + SETTLED_MS_MAX
    for (;;) {
      const [row] = await this.#bench.sql<{ count: string }[]>`
        select count(*) from heddle.stage_cursors where embed_seq < head_seq`
      if (Number(row?.count) === 0) return
      if (performance.now() > endsMs) throw new Error(`${row?.count} threads have not been embedded in time`)
      await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS))
    }
  }

  async countMissing(): Promise<number> {
    let missing = this.acknowledged.length
    for (let first = 0; first < this.acknowledged.length; first += IDS_PER_LOOK) {
      const some = this.acknowledged.slice(first, first + IDS_PER_LOOK)
      missing -= (await this.#bench.sql`select from heddle.messages where id = any(${some}::uuid[])`).length
    }
    return missing
  }

  async #done(stage: Scaled): Promise<number> {
    if (stage === 'assemble') return this.#answered
    if (stage === 'ingest') return this.acknowledged.length
    const [row] = await this.#bench.sql<
      { sum: string }[]
    >`select coalesce(sum(embed_seq), 0) as sum from heddle.stage_cursors`
    return Number(row?.sum)
  }

  async #atOnce(count: number, isOn: () => boolean, work: (index: number) => Promise<void>): Promise<void> {
    const one = async (index: number) => {
      while (isOn()) await work(index).catch((error: unknown) => this.failures.push(String(error)))
    }
    await Promise.all(Array.from({ length: count }, (_, index) => one(index)))
  }

  async #append(producer: number): Promise<void> {
    const thread = `pooled-${producer}-${this.acknowledged.length % THREADS_EACH}`
    const messages = conversationOf(MESSAGES_PER_APPEND).map((message) => ({ ...message, id: uuid() }))
    const append = { agent: 'producer', thread, messages, newAgentRollingWindow: null, deadlineMs: DEADLINE_MS }
    await this.#bench.client.messages.append(append)
    this.acknowledged.push(...messages.map(({ id }) => id))
  }

  async #ask(requester: number): Promise<void> {
    const thread = this.#built[requester % this.#built.length] ?? ''
    await build(this.#bench.client, { thread, message: `question ${this.#answered}` }, DEADLINE_MS)
    this.#answered++
  }
}
