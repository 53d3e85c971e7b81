import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type CapacityPlan, capacityLimits, capacityPlanSchema, describeReceived, parse } from '@heddle/contracts'
import type { CapacityForecast, CapacityLimit, PoolForecast } from '@heddle/core'
import type { Command } from 'commander'
import type { CommandContext } from '../../connect/context.js'
import { wholeNumber } from '../../options/option-values.js'
import { UsageError } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'
import { type ItemColumn, itemTable, type Line } from '../../output/table.js'

interface ForecastOptions {
  readonly processes?: readonly PoolSize[]
  readonly seconds?: number
  readonly seed?: number
}

interface PoolSize {
  readonly pool: string
  readonly processes: number
}

const { secondsMax, processesMax } = capacityLimits

export function registerForecast(program: Command, context: CommandContext): void {
  program
    .command('forecast')
    .description('simulate worker pools and servers under a planned load: throughput, waits, and the part that limits')
    .argument('<file>', 'a capacity plan as JSON: machines, servers, pools, and work with its measured costs')
    .option('--processes <pool=number>', 'another number of processes for a pool; may be repeated', processesOption)
    .option(
      '--seconds <number>',
      'simulated time, instead of that of the plan',
      wholeNumber('seconds', 1, secondsMax, 'Give seconds, such as --seconds 60.'),
    )
    .option(
      '--seed <number>',
      'other random numbers',
      wholeNumber('seed', 0, Number.MAX_SAFE_INTEGER, 'Give a number, such as --seed 2.'),
    )
    .option('--json', 'print the forecast as one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  $ heddle forecast plan.json\n  $ heddle forecast plan.json --processes embed=4 --processes prune=2 --json\n\nPlans and their measured costs: docs/scale.md. Nothing is opened, and nothing is changed.',
    )
    .action((file: string, options: ForecastOptions) => forecast(context, file, options))
}

async function forecast(context: CommandContext, file: string, options: ForecastOptions): Promise<void> {
  const plan = withOptions(await readPlan(resolve(context.cwd, file)), options)
  // Loaded for this command alone, so that others start sooner.
  const { forecastCapacity } = await import('@heddle/core')
  const forecasted = forecastCapacity(plan)
  context.printer.result(forecasted, () => forecastLines(plan, forecasted))
}

async function readPlan(path: string): Promise<CapacityPlan> {
  const hint = 'Give the path of a capacity plan; docs/scale.md shows one.'
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError('file', `cannot be read: ${error.code ?? error.message}`, path, hint)
  })
  let plan: unknown
  try {
    plan = JSON.parse(text)
  } catch (error) {
    throw new UsageError('file', `is not JSON: ${error instanceof Error ? error.message : error}`, path, hint)
  }
  return parse(capacityPlanSchema, plan, 'capacity plan')
}

function withOptions(plan: CapacityPlan, { processes = [], seconds, seed }: ForecastOptions): CapacityPlan {
  const pools = { ...plan.pools }
  for (const { pool: name, processes: count } of processes) {
    const pool = pools[name]
    if (pool === undefined) {
      const hint = `It has: ${safeText(Object.keys(pools).join(', '))}.`
      throw new UsageError('processes', 'is not a pool of this plan', describeReceived(name), hint)
    }
    pools[name] = { ...pool, processes: count }
  }
  return { ...plan, pools, seconds: seconds ?? plan.seconds, seed: seed ?? plan.seed }
}

function processesOption(text: string, before: readonly PoolSize[] = []): PoolSize[] {
  const [, pool = '', count] = /^(.{1,100})=(\d+)$/s.exec(text) ?? []
  const processes = Number(count)
  if (processes >= 1 && processes <= processesMax) return [...before, { pool, processes }]
  const hint = 'Give a pool and a number, such as --processes embed=4.'
  throw new UsageError('processes', `must be a pool and a number up to ${processesMax}`, describeReceived(text), hint)
}

function forecastLines(
  plan: CapacityPlan,
  { seconds, work, pools, servers, machines, limit }: CapacityForecast,
): Line[] {
  return [
    `${formatNumber(seconds)} simulated seconds; ${limitLine(limit)}`,
    '',
    ...itemTable(
      named(work).map(([kind, of]) => ({ kind, ...of })),
      [
        { title: 'work', text: ({ kind }) => kind },
        { title: 'arrives/s', right: ({ arrivedPerSecond }) => formatNumber(arrivedPerSecond) },
        { title: 'done/s', right: ({ perSecond }) => formatNumber(perSecond) },
        { title: 'p50 ms', right: ({ latency }) => formatNumber(latency.p50Ms) },
        { title: 'p95 ms', right: ({ latency }) => formatNumber(latency.p95Ms) },
        { title: 'open', count: ({ open }) => open },
      ],
    ),
    '',
    ...itemTable(
      named(pools).map(([pool, of]) => ({ pool, ...of })),
      poolColumns,
    ),
    '',
    ...itemTable(
      [
        ...named(machines).map(([name, { busy }]) => ({
          name: `machine ${name}`,
          busy: formatShare(busy),
          of: ofMany(plan.machines[name]?.count ?? 1, `${plan.machines[name]?.processors ?? 1} processors`),
        })),
        ...named(servers).map(([name, { processors, statements, statementsMax }]) => ({
          name: `server ${name}`,
          busy: `${formatNumber(processors)} processors`,
          of: ofMany(
            plan.servers[name]?.shards ?? 1,
            `${formatNumber(statements)} statements at once, at most ${statementsMax}, limit ${plan.servers[name]?.connections ?? 1}`,
          ),
        })),
      ],
      [
        { title: 'part', text: ({ name }) => name },
        { title: 'busy', right: ({ busy }) => busy },
        { title: '', text: ({ of }) => of },
      ],
    ),
  ]
}

const poolColumns: readonly ItemColumn<PoolForecast & { readonly pool: string }>[] = [
  { title: 'pool', text: ({ pool }) => pool },
  { title: 'processes', count: ({ processes }) => processes },
  { title: 'jobs/s', right: ({ perSecond }) => formatNumber(perSecond) },
  { title: 'wait p50 ms', right: ({ wait }) => formatNumber(wait.p50Ms) },
  { title: 'p95', right: ({ wait }) => formatNumber(wait.p95Ms) },
  { title: 'service p50 ms', right: ({ service }) => formatNumber(service.p50Ms) },
  { title: 'p95', right: ({ service }) => formatNumber(service.p95Ms) },
  { title: 'thread', right: ({ threadBusy }) => formatShare(threadBusy) },
  { title: 'slots', right: ({ slotsBusy }) => formatShare(slotsBusy) },
]

function limitLine({ part, name, busy, isReached }: CapacityLimit): string {
  const which = `${words[part]} of ${safeText(name)}`
  return isReached
    ? `limited by the ${which}, which is full`
    : `no part is full; the busiest is the ${which}, by ${formatShare(busy)}`
}

const words = { machine: 'processors', thread: 'threads', connections: 'connections', slots: 'slots' } as const

function ofMany(count: number, what: string): string {
  return count === 1 ? what : `each of ${count}: ${what}`
}

function named<Value>(parts: Readonly<Record<string, Value>>): [string, Value][] {
  return Object.entries(parts)
}

/** Three digits, since the costs in a plan have no more. */
function formatNumber(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en-US', { maximumFractionDigits: 3 })
}

function formatShare(share: number): string {
  return `${Math.round(share * 100)} %`
}
