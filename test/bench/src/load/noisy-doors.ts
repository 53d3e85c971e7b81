import { tmpdir } from 'node:os'
import { createClient } from '@heddle/engine'
import { loadConfig } from '@heddle/runtime'
import { isWanted, type Measured } from '@heddle/test-support/figure'
import { textOf } from '@heddle/test-support/samples/texts'
import { type Bench, withBench } from '../bench.js'
import type { Sizes } from '../catalog.js'
import { MissingServer } from '../servers.js'
import { type Door, doors, quietAsks, refusingDoors, writingDoors } from './doors.js'
import { startFlood } from './flood.js'
import { startGatewayProcess } from './gateways.js'
import { LoopDelay } from './loop-delay.js'
import { countMissing, settle, type Tenant } from './noisy.js'
import { Asker, type Manners } from './offered-load.js'
import { percentile } from './statistics.js'

/** Concurrent callers of the noisy project, each of which calls again as soon as it has its answer. */
const FLOOD_AT_ONCE = 100
const QUIET_PER_SECOND = 8
const PHASE_MS_MAX = 15_000
const WARM_MS = 4_000
/** The warm-up of a flood before the quiet project is measured beside it. */
const FLOOD_AHEAD_MS = 1_000
/** Limit of the wait for the large thread to settle: its stages work only for the noisy project. */
const SETTLED_MS_MAX = 120_000
/** Limit of the wait for the work that a flood leaves; if it takes longer, the previous time alone is used. */
const IDLE_MS_MAX = 30_000
const POLL_EVERY_MS = 200
const LARGE_MESSAGES = 50
const LARGE_CHARACTERS = 50_000
const LARGEST_CHARACTERS = 500_000

interface Phase {
  readonly name: string
  readonly door: Door
  readonly manners: Manners
}

const patient = doors.map((door): Phase => ({ name: `noisy.doors.${door}`, door, manners: 'patient' }))
const hasty = refusingDoors.map((door): Phase => ({ name: `noisy.hasty.${door}`, door, manners: 'hasty' }))
/** Those that write come last, whatever the retry delay of their callers. */
const phases = [...patient, ...hasty].sort((one, other) => Number(isWriting(one)) - Number(isWriting(other)))

export const noisyDoorNames = [
  ...phases.map(({ name }) => name),
  'noisy.doors.lost',
  'noisy.doors.unnamed',
  'noisy.doors.failed',
]

/** The cost of a flood of one project at each interface for another project. */
export async function measureNoisyDoors(sizes: Sizes): Promise<Measured[]> {
  try {
    return await withBench('redis', (bench) => measureOn(bench, sizes))
  } catch (error) {
    if (!(error instanceof MissingServer)) throw error
    return await withBench('embedded', (bench) => measureOn(bench, sizes))
  }
}

async function measureOn(bench: Bench, { noisySeconds, only }: Sizes): Promise<Measured[]> {
  const forMs = Math.min(noisySeconds * 1_000, PHASE_MS_MAX)
  const { HEDDLE_WORKERS_NICENESS } = process.env
  const { niceness } = loadConfig({ env: { HEDDLE_WORKERS_NICENESS }, cwd: tmpdir() }).workers
  // As deployed: the process that answers callers does not share its event loop with the stages.
  const pools = await Promise.all([
    bench.startStagesBehind(niceness, 'ingest'),
    bench.startStagesBehind(niceness, 'assemble'),
    bench.startStagesBehind(niceness, 'prune', 'summarize', 'embed'),
  ])
  // One gateway, so that the flood and the quiet project must share it.
  const gateway = await startGatewayProcess(bench)
  const [noisy, quiet] = [await settle(bench, 'noisy'), await settle(bench, 'quiet')]
  const large = await fillLargeThread(bench, noisy)
  const flood = await startFlood({ urls: [gateway.url], ...noisy })
  const asker = new Asker([gateway.url], quiet.key)
  const calmly = quietAsks(quiet)
  try {
    await asker.open(calmly.next, QUIET_PER_SECOND, WARM_MS)
    let alone = await asker.open(calmly.next, QUIET_PER_SECOND, forMs)
    const figures: Measured[] = []
    let acknowledged: readonly string[] = []
    const failed: string[] = []
    let unnamed = 0
    const wanted = phases.filter(({ name }) => isWanted(name, only))
    const measured = wanted.length > 0 ? wanted : phases
    for (const [index, { name, door, manners }] of measured.entries()) {
      // Measured before each flood, since machines vary; but not while workers are busy with work that a flood has left.
      if (index > 0 && (await isIdleInTime(bench))) alone = await asker.open(calmly.next, QUIET_PER_SECOND, forMs)
      const flooding = flood.ask({
        kind: 'door',
        door,
        manners,
        ...noisy,
        ...large,
        atOnce: FLOOD_AT_ONCE,
        forMs: forMs + 2 * FLOOD_AHEAD_MS,
      })
      await new Promise((resolve) => setTimeout(resolve, FLOOD_AHEAD_MS))
      await gateway.delayMs()
      const ownDelay = new LoopDelay()
      const calm = await asker.open(calmly.next, QUIET_PER_SECOND, forMs)
      const ownDelayMs = ownDelay.stop()
      const delayMs = await gateway.delayMs()
      const loud = await flooding
      acknowledged = acknowledged.concat(loud.acknowledged)
      unnamed += loud.withoutRetryAfter
      failed.push(...kindsOf(door, loud.others, calm.others))
      process.stderr.write(
        `${name}: p95 ${percentile(calm.doneMs, 0.95).toFixed(0)} ms, alone ${percentile(alone.doneMs, 0.95).toFixed(0)} ms\n`,
      )
      figures.push({
        name,
        value: percentile(calm.doneMs, 0.95),
        unit: 'ms',
        ceiling: percentile(alone.doneMs, 0.95),
        target: '<= 2',
        note: [
          `p50 ${percentile(alone.doneMs, 0.5).toFixed(0)} ms alone, ${percentile(calm.doneMs, 0.5).toFixed(0)} ms beside the flood`,
          `p95 of ${[...calm.doneMsOf].map(([kind, ms]) => `${kind} ${percentile(ms, 0.95).toFixed(0)}`).join(', ')} ms`,
          `${calm.doneMs.length} done, ${calm.refusedMs.length} refused`,
          `flood of ${FLOOD_AT_ONCE} at once for ${forMs / 1_000} s: ${loud.doneMs.length} done, ${loud.refusedMs.length} refused`,
          `largest answer ${(loud.bytesMax / 1e6).toFixed(1)} MB`,
          `late, p99: gateway ${delayMs.toFixed(0)}, who measures ${ownDelayMs.toFixed(0)}, the flood itself ${loud.ownDelayMs.toFixed(0)} ms`,
        ].join('; '),
      })
    }
    acknowledged = acknowledged.concat(calmly.acknowledged)
    const lost = await countMissing(bench, acknowledged)
    return [
      ...figures,
      { name: 'noisy.doors.lost', value: lost, unit: 'messages', target: '<= 0', note: `of ${acknowledged.length}` },
      { name: 'noisy.doors.unnamed', value: unnamed, unit: 'refusals', target: '<= 0' },
      { name: 'noisy.doors.failed', value: failed.length, unit: 'kinds', target: '<= 0', note: failed.join(', ') },
    ]
  } finally {
    asker.close()
    await flood.stop()
    await gateway.stop()
    await Promise.all(pools.map((each) => each.stop()))
  }
}

/** Whether the workers have finished the remaining work within the limit. */
async function isIdleInTime({ queues }: Bench): Promise<boolean> {
  const endsAtMs = performance.now() + IDLE_MS_MAX
  while (performance.now() < endsAtMs) {
    const stats = await queues.stats()
    if (stats.every(({ waiting, active }) => waiting + active === 0)) return true
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS))
  }
  return false
}

function isWriting({ door }: Phase): boolean {
  return writingDoors.includes(door)
}

type Others = Iterable<readonly [number, number]>

function kindsOf(door: Door, loud: Others, calm: Others): string[] {
  const named = (who: string, others: Others) =>
    [...others].map(([status, count]) => `${door}: ${count} of ${status} to the ${who} one`)
  return [...named('noisy', loud), ...named('quiet', calm)]
}

async function fillLargeThread({ store, queues }: Bench, { agent }: Tenant) {
  const client = createClient({ store, queues, project: 'noisy' })
  const largeThread = 'large'
  const contents = Array.from({ length: LARGE_MESSAGES }, (_, index) =>
    textOfLength(index === 0 ? LARGEST_CHARACTERS : LARGE_CHARACTERS, index),
  )
  const messages = contents.map((content) => ({ role: 'user' as const, content }))
  await client.messages.append({ agent, thread: largeThread, messages, deadlineMs: 60_000 })
  await client.threads.waitUntilSettled(largeThread, { deadlineMs: SETTLED_MS_MAX })
  const { items } = await client.messages.list({ thread: largeThread, limit: 1 })
  return { largeThread, largeRef: items[0]?.reference ?? '' }
}

function textOfLength(characters: number, seed: number): string {
  const line = textOf(seed)
  return Array.from({ length: Math.ceil(characters / (line.length + 1)) }, (_, index) => `${index} ${line}`)
    .join('\n')
    .slice(0, characters)
}
