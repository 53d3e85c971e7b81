import { moveProject } from '@heddle/store'
import { closeAll, closeLater } from '@heddle/test-support/closing'
import type { Measured } from '@heddle/test-support/figure'
import { type Bench, openBench } from '../bench.js'
import type { Sizes } from '../catalog.js'
import { makeLongThread } from '../contexts/long-thread.js'
import { openServers } from '../servers.js'
import { startGatewayProcess } from './gateways.js'
import { settle } from './noisy.js'
import { Asker } from './offered-load.js'
import { percentile } from './statistics.js'
import { asksOf } from './tenant.js'

export const movedNames = [
  'projects.moved.lost',
  'projects.moved.refused',
  'projects.moved.longest',
  'projects.moved.different',
  'projects.moved.held',
  'projects.moved.took',
]

const PROJECT = 'bench'
/** Threads that nobody writes to meanwhile, which have nearly all messages together. */
const THREADS = 10
const CALLERS = 2
/** The time of the same callers alone. */
const ALONE_MS = 20_000
/** The load goes on for longer than any move takes, until it is stopped. */
const LOAD_MS_MAX = 3_600_000
const WAIT_MS_MAX = 1_000

/**
 * A project of up to a million messages moves from one Postgres to another, while callers append and build contexts at a gateway, and
 * a process runs all stages. Each acknowledged message must be there afterwards, and the contexts of the other threads the same.
 */
export async function measureMovedProject({ messages }: Sizes): Promise<Measured[]> {
  try {
    const [servers, other] = [await openServers('postgres'), await openServers('postgres')]
    closeLater(() => servers.close())
    closeLater(() => other.close())
    const bench = await openBench({ ...servers, databases: { b: { url: other.databaseUrl } } })
    closeLater(() => bench.close())
    return await measureOn(bench, { messages, to: other.databaseUrl })
  } finally {
    await closeAll()
  }
}

async function measureOn(bench: Bench, { messages, to }: { messages: number; to: string }): Promise<Measured[]> {
  const startStages = () => bench.startStages('ingest', 'prune', 'summarize', 'embed', 'assemble')
  let stages = await startStages()
  const tenant = await settle(bench, PROJECT)
  const threads = Array.from({ length: THREADS }, (_, index) => `quiet-${index}`)
  for (const thread of threads) {
    await makeLongThread(bench, thread, {
      agent: 'quiet',
      settings: { budget: 16_000, rollingWindow: null },
      messages: Math.floor(messages / THREADS),
      messagesPerState: 100,
      summary: 'A summary of earlier messages, with what was decided. '.repeat(60),
    })
  }
  const contextsOf = async () => {
    const built: string[] = []
    for (const thread of threads) {
      const context = await bench.client.contexts.build({ agent: 'quiet', thread, format: 'openai-chat' })
      built.push(JSON.stringify(context.messages))
    }
    return built
  }
  const before = await contextsOf()
  const gateway = await startGatewayProcess(bench)
  const asks = asksOf(tenant)
  const asker = new Asker([gateway.url], tenant.key)
  try {
    const alone = await asker.closed(asks.next, CALLERS, ALONE_MS, 'patient')
    let isMoved = false
    const loads: Awaited<typeof alone>[] = []
    const loading = (async () => {
      const endsAtMs = performance.now() + LOAD_MS_MAX
      while (!isMoved && performance.now() < endsAtMs)
        loads.push(await asker.closed(asks.next, CALLERS, 500, 'patient'))
    })()
    const startedMs = performance.now()
    const { figures } = await moveProject({
      projectId: bench.projectId,
      project: PROJECT,
      to: 'b',
      databases: { default: bench.servers.databaseUrl, b: to },
    })
    const tookMs = performance.now() - startedMs
    isMoved = true
    await loading
    // A worker that has built nothing yet.
    await stages.stop()
    stages = await startStages()
    const after = await contextsOf()
    const lost = await countLost(bench, asks.acknowledged)
    const doneMs = loads.flatMap((load) => load.doneMs)
    const refused = loads.flatMap((load) => [
      ...load.refusedMs.map(() => 429),
      ...[...load.others.entries()].flatMap(many),
    ])
    const longestMs = Math.max(...doneMs)
    const times = `of ${doneMs.length} calls; p99 ${percentile(doneMs, 0.99).toFixed(0)} ms, alone ${percentile(alone.doneMs, 0.99).toFixed(0)} ms, longest alone ${Math.max(...alone.doneMs).toFixed(0)} ms`
    return [
      {
        name: 'projects.moved.lost',
        value: lost,
        unit: 'messages',
        target: '<= 0',
        note: `of ${asks.acknowledged.length}`,
      },
      {
        name: 'projects.moved.refused',
        value: refused.length,
        unit: 'calls',
        target: '<= 0',
        note: [...new Set(refused)].join(', '),
      },
      { name: 'projects.moved.longest', value: longestMs, unit: 'ms', target: `<= ${WAIT_MS_MAX}`, note: times },
      {
        name: 'projects.moved.different',
        value: after.filter((context, place) => context !== before[place]).length,
        unit: 'contexts',
        target: '<= 0',
        note: `of ${after.length}, ${before.join('').length} characters`,
      },
      {
        name: 'projects.moved.held',
        value: figures.heldMs ?? Number.NaN,
        unit: 'ms',
        target: `<= ${WAIT_MS_MAX}`,
        note: `${figures.tries} tries`,
      },
      {
        name: 'projects.moved.took',
        value: tookMs / 1_000,
        unit: 's',
        note: `${figures.rows} rows copied, ${figures.changes} changes caught up in ${figures.rounds} rounds, ${figures.verified} rows compared, ${figures.removed} removed`,
      },
    ]
  } finally {
    asker.close()
    await gateway.stop()
    await stages.stop()
  }
}

function many([status, count]: [number, number]): number[] {
  return Array.from({ length: count }, () => status)
}

const IDS_PER_READ = 5_000

/** Acknowledged messages that the project does not have where it is now. */
async function countLost({ store, projectId }: Bench, ids: readonly string[]): Promise<number> {
  let missing = ids.length
  for (let first = 0; first < ids.length; first += IDS_PER_READ) {
    const some = `{${ids.slice(first, first + IDS_PER_READ).join(',')}}`
    const rows = await store.inProject(
      projectId,
      (tx) => tx`select from heddle.messages where id = any(${some}::uuid[]) and project_id = ${projectId}`,
    )
    missing -= rows.length
  }
  return missing
}
