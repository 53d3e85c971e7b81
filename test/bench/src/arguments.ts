import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { figureOptions, type Help, helpText } from '@heddle/test-support/help'

export interface Arguments {
  readonly help: boolean
  readonly list: boolean
  /** Figures with this name, or with it and a dot as a prefix; null means all figures. */
  readonly only: readonly string[] | null
  /** Messages of the long thread. */
  readonly messages: number
  /** Contexts that many clients request in all. */
  readonly replies: number
  /** Chunks of the searched scope. */
  readonly chunks: number
  /** Seconds of each phase beside a noisy neighbour. */
  readonly noisySeconds: number
  /** Seconds that a pool works in each of its sizes. */
  readonly poolSeconds: number
  /** The file of a capacity plan, to which the measured costs are added; null if it was not given. */
  readonly planPath: string | null
  /** The folder of recorded sessions; null if it was not given. */
  readonly dataDir: string | null
}

/** Few enough for the time of a whole run on two busy cores; a figure that is selected by its name uses all messages. */
const MESSAGES_DEFAULT = 300_000
const MESSAGES_MIN = 10_000
const MESSAGES_MAX = 1_000_000

const REPLIES_DEFAULT = 1_000
const REPLIES_MIN = 64
const REPLIES_MAX = 10_000

const CHUNKS_DEFAULT = 100_000
const CHUNKS_MIN = 1_000
const CHUNKS_MAX = 1_000_000

const NOISY_SECONDS_DEFAULT = 120
const NOISY_SECONDS_MIN = 5
const NOISY_SECONDS_MAX = 3_600

const POOL_SECONDS_DEFAULT = 20
const POOL_SECONDS_MIN = 2
const POOL_SECONDS_MAX = 600

const options = {
  ...figureOptions,
  messages: {
    type: 'string',
    value: 'N',
    says: 'messages of the long thread (300,000; 1,000,000 if selected by name)',
  },
  replies: { type: 'string', value: 'N', says: 'contexts for 64 clients (1,000; 10,000 if selected by name)' },
  chunks: {
    type: 'string',
    value: 'N',
    says: 'chunks of the searched scope (100,000; up to 1,000,000, which takes a quarter of an hour)',
  },
  'noisy-seconds': { type: 'string', value: 'N', says: 'seconds of each phase beside a noisy neighbour (120)' },
  data: {
    type: 'string',
    value: 'DIR',
    says: 'the folder of recorded sessions, for storage.session (HEDDLE_EVAL_DATA)',
  },
  plan: {
    type: 'string',
    value: 'FILE',
    says: 'capacity plan to which forecast adds the measured costs of each stage, for `heddle forecast`',
  },
  'pool-seconds': { type: 'string', value: 'N', says: 'seconds of each size of a worker pool (20)' },
} as const

export const help = helpText({
  command: 'npm run bench',
  does: `Measures the performance of Heddle, each figure beside its ceiling in the same run. One line of JSON for each figure.
It starts its own servers, except with DATABASE_URL and REDIS_URL, where it creates a database and a prefix and removes both.`,
  options,
  takes: `about half an hour on two cores, longer on busy ones; one figure half a minute to five, except the long ones: build.thread1m
and projects.moved fill threads of a million messages, noisy has two phases of --noisy-seconds, pools nine of --pool-seconds.`,
  exits: '0 when all was measured, passed or not; 1 when a measurement failed; 2 for wrong arguments',
} satisfies Help)

/** @throws Error that names the invalid argument */
export function readArguments(given: readonly string[], env: Readonly<Record<string, string | undefined>>): Arguments {
  const { values } = parseArgs({ args: [...given], options })
  const only = values.only ?? null
  const sizeOf = (name: string, inFull: number, usual: number) =>
    only?.some((figure) => figure.startsWith(name)) === true ? inFull : usual
  const isLong = only?.some((figure) => ['build.thread1m', 'projects.moved'].some((name) => figure.startsWith(name)))
  const messages = values.messages ?? (isLong === true ? MESSAGES_MAX : MESSAGES_DEFAULT)
  const replies = values.replies ?? sizeOf('build.clients64', REPLIES_MAX, REPLIES_DEFAULT)
  const named = values.data ?? env['HEDDLE_EVAL_DATA']?.trim()
  const dataDir = named === undefined || named === '' ? null : resolve(named)
  if (dataDir !== null && !(existsSync(dataDir) && statSync(dataDir).isDirectory())) {
    throw new Error(`the folder of recorded sessions does not exist: ${dataDir}`)
  }
  return {
    help: values.help,
    list: values.list,
    only,
    messages: whole('messages', messages, MESSAGES_MIN, MESSAGES_MAX),
    replies: whole('replies', replies, REPLIES_MIN, REPLIES_MAX),
    chunks: whole('chunks', values.chunks ?? CHUNKS_DEFAULT, CHUNKS_MIN, CHUNKS_MAX),
    noisySeconds: whole(
      'noisy-seconds',
      values['noisy-seconds'] ?? NOISY_SECONDS_DEFAULT,
      NOISY_SECONDS_MIN,
      NOISY_SECONDS_MAX,
    ),
    poolSeconds: whole(
      'pool-seconds',
      values['pool-seconds'] ?? POOL_SECONDS_DEFAULT,
      POOL_SECONDS_MIN,
      POOL_SECONDS_MAX,
    ),
    planPath: values.plan === undefined ? null : resolve(values.plan),
    dataDir,
  }
}

function whole(name: string, given: string | number, least: number, most: number): number {
  const count = Number(given)
  if (Number.isInteger(count) && count >= least && count <= most) return count
  throw new Error(`--${name} must be a whole number from ${least} to ${most}`)
}
