import { parseArgs } from 'node:util'
import { figureOptions, type Help, helpText } from '@heddle/test-support/help'
import { type SabotageName, sabotageNames } from './sabotage.js'
import { awaitSize, clusterSize, fullSize, rollingSize, type Size, shortSize } from './sizes.js'

export interface Arguments {
  readonly help: boolean
  readonly list: boolean
  /** Figures with this name, or with it and a dot as a prefix; null means all figures. */
  readonly only: readonly string[] | null
  readonly seed: number
  readonly size: Size
  readonly sabotage: SabotageName | null
  /** Shows that each sabotage is detected, instead of measuring. */
  readonly prove: boolean
  /** A cluster of hosts in network namespaces, instead of servers and workers beside each other. */
  readonly cluster: boolean
  /** An upgrade from another version under load, instead of faults. */
  readonly rolling: { readonly from: string; readonly minutes: number; readonly gatewaysFirst: boolean } | null
}

/** The last commit before Heddle ran on many machines: without the chart, autoscaling and traces. */
const ROLLING_FROM = '4abde8a5'
const ROLLING_MINUTES = 3

const SEED_MAX = 2_147_483_647
const CONTEXTS_MAX = 100_000
const ROUNDS_MAX = 1_000_000_000
const MINUTES_MAX = 1_440
const CLUSTER_MINUTES = { full: 30, short: 3 } as const

const options = {
  ...figureOptions,
  short: { type: 'boolean', default: false, says: '10,000 messages and fewer faults instead of 100,000' },
  seed: { type: 'string', value: 'N', says: 'repeats the messages and faults of another run, which printed its seed' },
  contexts: { type: 'string', value: 'N', says: 'contexts that are requested meanwhile (400, with --short 150)' },
  rounds: { type: 'string', value: 'N', says: 'rounds of the figures of core (100,000, with --short 5,000)' },
  sabotage: {
    type: 'string',
    value: 'NAME',
    says: `disables one mechanism, so that the run must fail: ${sabotageNames.join(', ')}`,
  },
  cluster: {
    type: 'boolean',
    default: false,
    says: 'disturbs a cluster of hosts in network namespaces instead (root, Linux)',
  },
  rolling: {
    type: 'boolean',
    default: false,
    says: 'replaces the services of an earlier version one by one while users work',
  },
  from: { type: 'string', value: 'COMMIT', says: `the earlier version of --rolling (${ROLLING_FROM})` },
  'gateways-first': {
    type: 'boolean',
    default: false,
    says: 'replaces the gateways of --rolling before the workers, as a Helm upgrade may',
  },
  minutes: {
    type: 'string',
    value: 'N',
    says: `how long the users of a cluster work (30, with --short 3), or those of --rolling, at least (${ROLLING_MINUTES})`,
  },
  prove: { type: 'boolean', default: false, says: 'shows at a small size that each sabotage is detected' },
} as const

export const help = helpText({
  command: 'npm run chaos',
  does: `Kills, restarts, pauses and disconnects workers, Redis and Postgres while producers append and agents await contexts, and
compares the store with the acknowledged messages. One line of JSON for each figure. It starts its own servers, in a temporary
folder, which it removes.`,
  options,
  takes: `at least 2.5 minutes for each of two backends: the time of the producers, and of the remaining work; --short under
1.5 minutes for each. A busy machine takes longer and meets the same faults. A cluster takes --minutes and three more for
each of its kinds. --rolling takes --minutes and two more on each backend, and some more once to build the earlier version.`,
  exits:
    '0 when every selected figure passes, 1 when one does not or a run failed, 2 for wrong arguments, or if the machine lacks what a cluster or --rolling needs',
} satisfies Help)

/** @throws Error that names the invalid argument */
export function readArguments(given: readonly string[], seedDefault: number): Arguments {
  const { values } = parseArgs({ args: [...given], options })
  const { sabotage = null } = values
  if (sabotage !== null && !isSabotage(sabotage)) {
    throw new Error(`--sabotage must be one of ${sabotageNames.join(', ')}, not ${sabotage}`)
  }
  const only = values.only ?? null
  const isOfWaits = only?.every((name) => /^await(\.|$)/.test(name)) === true
  const minutes = wholeNumber('--minutes', values.minutes, MINUTES_MAX)
  if (minutes !== undefined && !values.cluster && !values.rolling)
    throw new Error('--minutes needs --cluster or --rolling')
  if ((values.from !== undefined || values['gateways-first']) && !values.rolling)
    throw new Error('--from and --gateways-first need --rolling')
  if ((values.cluster || values.rolling) && (values.prove || sabotage !== null))
    throw new Error('--cluster and --rolling exclude --prove and --sabotage')
  if (values.cluster && values.rolling) throw new Error('--cluster excludes --rolling')
  const ofCluster = clusterSize(minutes ?? CLUSTER_MINUTES[values.short ? 'short' : 'full'])
  const ofServers = values.short ? shortSize : isOfWaits ? awaitSize : fullSize
  const size = values.rolling ? rollingSize : values.cluster ? ofCluster : ofServers
  return {
    help: values.help,
    list: values.list,
    only,
    seed: wholeNumber('--seed', values.seed, SEED_MAX) ?? seedDefault,
    size: {
      ...size,
      contexts: wholeNumber('--contexts', values.contexts, CONTEXTS_MAX) ?? size.contexts,
      coreRounds: wholeNumber('--rounds', values.rounds, ROUNDS_MAX) ?? size.coreRounds,
    },
    sabotage,
    prove: values.prove,
    cluster: values.cluster,
    rolling: values.rolling
      ? {
          from: values.from ?? ROLLING_FROM,
          minutes: minutes ?? ROLLING_MINUTES,
          gatewaysFirst: values['gateways-first'],
        }
      : null,
  }
}

function isSabotage(name: string): name is SabotageName {
  return (sabotageNames as readonly string[]).includes(name)
}

function wholeNumber(name: string, given: string | undefined, max: number): number | undefined {
  if (given === undefined) return undefined
  const number = Number(given)
  if (/^\d+$/.test(given) && number <= max) return number
  throw new Error(`${name} must be a whole number from 0 to ${max}, not ${given}`)
}
