import { parseArgs } from 'node:util'

export interface Arguments {
  readonly list: boolean
  /** Figures whose names are this or begin with it and a dot; all where it is null. */
  readonly only: readonly string[] | null
  /** Messages of the long thread. */
  readonly messages: number
  /** Chunks of the scope that is searched. */
  readonly chunks: number
  /** How long each phase beside a noisy neighbour lasts. */
  readonly noisySeconds: number
}

/** Few enough that the whole run stays within its time on two busy cores; a million take about a minute a backend. */
const MESSAGES_DEFAULT = 300_000
const MESSAGES_MIN = 10_000
const MESSAGES_MAX = 1_000_000

const CHUNKS_DEFAULT = 100_000
const CHUNKS_MIN = 1_000
const CHUNKS_MAX = 250_000

const NOISY_SECONDS_DEFAULT = 120
const NOISY_SECONDS_MIN = 5
const NOISY_SECONDS_MAX = 3_600

/** @throws Error that says what is wrong */
export function readArguments(given: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...given],
    options: {
      list: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      messages: { type: 'string' },
      chunks: { type: 'string' },
      'noisy-seconds': { type: 'string' },
    },
  })
  return {
    list: values.list,
    only: values.only ?? null,
    messages: whole('messages', values.messages ?? MESSAGES_DEFAULT, MESSAGES_MIN, MESSAGES_MAX),
    chunks: whole('chunks', values.chunks ?? CHUNKS_DEFAULT, CHUNKS_MIN, CHUNKS_MAX),
    noisySeconds: whole(
      'noisy-seconds',
      values['noisy-seconds'] ?? NOISY_SECONDS_DEFAULT,
      NOISY_SECONDS_MIN,
      NOISY_SECONDS_MAX,
    ),
  }
}

function whole(name: string, given: string | number, least: number, most: number): number {
  const count = Number(given)
  if (Number.isInteger(count) && count >= least && count <= most) return count
  throw new Error(`--${name} must be a whole number from ${least} to ${most}`)
}
