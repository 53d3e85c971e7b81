import { parseArgs } from 'node:util'
import { type Help, helpOption, helpText } from '@heddle/test-support/help'

export const topologies = ['up', 'processes'] as const
export type Topology = (typeof topologies)[number]

export interface SoakArguments {
  readonly help: boolean
  readonly json: boolean
  readonly topology: Topology
  readonly minutes: number
  /** Operations in a second, of all kinds together. */
  readonly rate: number
  readonly seed: number
  /** Options of Node for the processes under load, such as a profile of their memory. */
  readonly nodeOptions: string | undefined
}

const MINUTES_MAX = 24 * 60
const RATE_MAX = 1_000
const SEED_MAX = 2_147_483_647

const options = {
  help: helpOption,
  json: { type: 'boolean', default: false, says: 'prints all samples as one JSON object at the end' },
  topology: {
    type: 'string',
    default: 'up',
    value: 'NAME',
    says: 'up: one "heddle up"; processes: a gateway and a worker of each stage (up)',
  },
  minutes: { type: 'string', default: '30', value: 'N', says: 'duration; a sample is taken each minute (30)' },
  rate: { type: 'string', default: '20', value: 'N', says: 'operations in a second, of all kinds together (20)' },
  seed: { type: 'string', default: '1', value: 'N', says: 'repeats the operations of another run (1)' },
  'node-options': { type: 'string', value: 'TEXT', says: 'NODE_OPTIONS of the processes under load' },
} as const

export const help = helpText({
  command: 'npm run soak',
  does: `Appends, builds contexts, searches and recalls at a steady rate that the machine sustains, on growing and new threads,
and prints each minute the memory of the processes, delays of the event loop, connections, bytes and dead rows
of the database, and durations of the operations. It starts its own servers, with data in a temporary folder.`,
  options,
  takes: 'the given minutes, and some seconds more.',
  exits: '0 when everything stays flat after the first five minutes, 1 when it does not, 2 for wrong arguments',
} satisfies Help)

/** @throws Error that names the invalid argument */
export function readArguments(given: readonly string[]): SoakArguments {
  const { values } = parseArgs({ args: [...given], options })
  const topology = topologies.find((name) => name === values.topology)
  if (topology === undefined)
    throw new Error(`--topology must be one of ${topologies.join(', ')}, not ${values.topology}`)
  return {
    help: values.help,
    json: values.json,
    topology,
    minutes: wholeNumber('--minutes', values.minutes, MINUTES_MAX),
    rate: wholeNumber('--rate', values.rate, RATE_MAX),
    seed: wholeNumber('--seed', values.seed, SEED_MAX),
    nodeOptions: values['node-options'],
  }
}

function wholeNumber(name: string, given: string, max: number): number {
  const number = Number(given)
  if (/^\d+$/.test(given) && number >= 1 && number <= max) return number
  throw new Error(`${name} must be a whole number from 1 to ${max}, not ${given}`)
}
