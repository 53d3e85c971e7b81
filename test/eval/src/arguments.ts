import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { figureOptions, type Help, helpText } from '@heddle/test-support/help'

export interface Arguments {
  readonly help: boolean
  readonly list: boolean
  /** Figures with this name, or with it and a dot as a prefix; null means all figures. */
  readonly only: readonly string[] | null
  /** The folder of real sessions; null if it was not given. */
  readonly dataDir: string | null
  /** Generated histories of the property. */
  readonly histories: number
  /** Measure the effect of each part of the ranking, by leaving it out. */
  readonly ablation: boolean
}

/** About a minute on one core; 100,000 take an hour. */
const HISTORIES_DEFAULT = 2_000
const HISTORIES_MAX = 10_000_000

const options = {
  ...figureOptions,
  data: { type: 'string', value: 'DIR', says: 'the folder of real sessions (HEDDLE_EVAL_DATA)' },
  histories: { type: 'string', value: 'N', says: 'generated histories of prune.property and budgets (2,000)' },
  ablation: {
    type: 'boolean',
    default: false,
    says: 'measures the effect of each part of the ranking, by leaving it out',
  },
} as const

export const help = helpText({
  command: 'npm run eval',
  does: `Measures the quality of Heddle: the precision of pruning, the content of summaries, the hits of search, the savings of
caching. One line of JSON for each figure. It reads real sessions, which are not in this repository, and needs no server.`,
  options,
  takes:
    'about 35 minutes on two busy cores, of which contexts takes eight, contexts.rebuilt six, proxy five and proxy.service eight; the others about one each, or less.',
  exits:
    '0 when all was measured, passed or not; 1 when a measurement failed; 2 for wrong arguments or missing sessions',
} satisfies Help)

/** @throws Error that names the invalid argument */
export function readArguments(given: readonly string[], env: Readonly<Record<string, string | undefined>>): Arguments {
  const { values } = parseArgs({ args: [...given], options })
  const histories = values.histories === undefined ? HISTORIES_DEFAULT : Number(values.histories)
  if (!Number.isInteger(histories) || histories < 1 || histories > HISTORIES_MAX) {
    throw new Error(`--histories must be a whole number from 1 to ${HISTORIES_MAX}`)
  }
  const named = values.data ?? env['HEDDLE_EVAL_DATA']?.trim()
  const dataDir = named === undefined || named === '' ? null : resolve(named)
  if (dataDir !== null && !(existsSync(dataDir) && statSync(dataDir).isDirectory())) {
    throw new Error(`the folder of real sessions does not exist: ${dataDir}`)
  }
  return {
    help: values.help,
    list: values.list,
    only: values.only ?? null,
    dataDir,
    histories,
    ablation: values.ablation,
  }
}
