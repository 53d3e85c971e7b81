import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

export interface Arguments {
  readonly list: boolean
  /** Figures whose names are this or begin with it and a dot; all where it is null. */
  readonly only: readonly string[] | null
  /** The folder of real sessions; null where none was named. */
  readonly dataDir: string | null
  /** Generated histories of the property. */
  readonly histories: number
  /** Measure what each part adds, by leaving it out. */
  readonly ablation: boolean
}

/** About a minute on one core; 100,000 take an hour. */
const HISTORIES_DEFAULT = 2_000
const HISTORIES_MAX = 10_000_000

/** @throws Error that says what is wrong */
export function readArguments(given: readonly string[], env: Readonly<Record<string, string | undefined>>): Arguments {
  const { values } = parseArgs({
    args: [...given],
    options: {
      list: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      data: { type: 'string' },
      histories: { type: 'string' },
      ablation: { type: 'boolean', default: false },
    },
  })
  const histories = values.histories === undefined ? HISTORIES_DEFAULT : Number(values.histories)
  if (!Number.isInteger(histories) || histories < 1 || histories > HISTORIES_MAX) {
    throw new Error(`--histories must be a whole number from 1 to ${HISTORIES_MAX}`)
  }
  const named = values.data ?? env['HEDDLE_EVAL_DATA']?.trim()
  const dataDir = named === undefined || named === '' ? null : resolve(named)
  if (dataDir !== null && !(existsSync(dataDir) && statSync(dataDir).isDirectory())) {
    throw new Error(`the folder of real sessions does not exist: ${dataDir}`)
  }
  return { list: values.list, only: values.only ?? null, dataDir, histories, ablation: values.ablation }
}
