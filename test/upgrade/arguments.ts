import { parseArgs } from 'node:util'
import { type Help, helpOption, helpText } from '@heddle/test-support/help'

export const backends = ['embedded', 'postgres'] as const
export type Backend = (typeof backends)[number]

export interface UpgradeArguments {
  readonly help: boolean
  /** A checkout of the version to upgrade from, installed and built. */
  readonly old: string
  /** The folder of recorded sessions. */
  readonly data: string
  readonly backends: readonly Backend[]
  /** The folder in which the readings of both versions are kept; null to delete them. */
  readonly readings: string | null
}

const options = {
  help: helpOption,
  old: { type: 'string', value: 'DIR', says: 'a checkout of the old version, with "npm ci" and "npm run build" done' },
  data: { type: 'string', value: 'DIR', says: 'the folder of recorded sessions (HEDDLE_EVAL_DATA)' },
  only: { type: 'string', value: 'NAME', says: 'embedded or postgres (both)' },
  readings: {
    type: 'string',
    value: 'DIR',
    says: 'keeps the answers of both versions in this folder, to compare them by hand',
  },
} as const

export const help = helpText({
  command: 'npm run verify:upgrade',
  does: `Writes all recorded sessions, contexts, snapshots, items, iterations, keys, grants, a clear, a restore and erased names
with an old version, opens the same data with this one, and compares every answer to a reader before and after:
histories, recalls of every reference, contexts with their receipts, snapshots, items, search. It uses its own servers and data.`,
  options,
  takes: 'some minutes for each of the two, most of them while the old version compacts the sessions.',
  exits: '0 when only intended differences are found, 1 when data was lost or changed, 2 for wrong arguments',
} satisfies Help)

/** @throws Error that names the invalid argument */
export function readArguments(given: readonly string[]): UpgradeArguments {
  const { values } = parseArgs({ args: [...given], options })
  const only = backends.find((name) => name === values.only)
  if (values.only !== undefined && only === undefined)
    throw new Error(`--only must be one of ${backends.join(', ')}, not ${values.only}`)
  const data = values.data ?? process.env['HEDDLE_EVAL_DATA'] ?? ''
  const old = values.old ?? ''
  if (!values.help && old === '') throw new Error('--old must name a checkout of the old version')
  if (!values.help && data === '') throw new Error('--data must name the folder of recorded sessions')
  return {
    help: values.help,
    old,
    data,
    backends: only === undefined ? backends : [only],
    readings: values.readings ?? null,
  }
}
