import { parseArgs } from 'node:util'
import { type SabotageName, sabotageNames } from './sabotage.js'
import { awaitSize, fullSize, type Size, shortSize } from './sizes.js'

export interface Arguments {
  readonly list: boolean
  /** Figures whose names are this or begin with it and a dot; all where it is null. */
  readonly only: readonly string[] | null
  readonly seed: number
  readonly size: Size
  readonly sabotage: SabotageName | null
  /** Shows that each sabotage is noticed, instead of measuring. */
  readonly prove: boolean
}

const SEED_MAX = 2_147_483_647
const CONTEXTS_MAX = 100_000
const ROUNDS_MAX = 1_000_000_000

/** @throws Error that says what is wrong */
export function readArguments(given: readonly string[], seedDefault: number): Arguments {
  const { values } = parseArgs({
    args: [...given],
    options: {
      list: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      short: { type: 'boolean', default: false },
      seed: { type: 'string' },
      contexts: { type: 'string' },
      rounds: { type: 'string' },
      sabotage: { type: 'string' },
      prove: { type: 'boolean', default: false },
    },
  })
  const { sabotage = null } = values
  if (sabotage !== null && !isSabotage(sabotage)) {
    throw new Error(`--sabotage must be one of ${sabotageNames.join(', ')}, not ${sabotage}`)
  }
  const only = values.only ?? null
  const isOfWaits = only?.every((name) => /^await(\.|$)/.test(name)) === true
  const size = values.short ? shortSize : isOfWaits ? awaitSize : fullSize
  return {
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
