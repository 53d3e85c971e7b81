import { parseArgs } from 'node:util'

export interface Arguments {
  readonly list: boolean
  /** Figures whose names are this or begin with it and a dot; all where it is null. */
  readonly only: readonly string[] | null
  /** Messages of the long thread. */
  readonly messages: number
  /** Contexts that many clients ask for together. */
  readonly replies: number
  /** Chunks of the scope that is searched. */
  readonly chunks: number
  /** How long each phase beside a noisy neighbour lasts. */
  readonly noisySeconds: number
  /** How long a pool works in each of its sizes. */
  readonly poolSeconds: number
}

/** Few enough that the whole run stays within its time on two busy cores; who asks for a figure by its name gets all of it. */
const MESSAGES_DEFAULT = 300_000
const MESSAGES_MIN = 10_000
const MESSAGES_MAX = 1_000_000

const REPLIES_DEFAULT = 1_000
const REPLIES_MIN = 64
const REPLIES_MAX = 10_000

const CHUNKS_DEFAULT = 100_000
const CHUNKS_MIN = 1_000
const CHUNKS_MAX = 250_000

const NOISY_SECONDS_DEFAULT = 120
const NOISY_SECONDS_MIN = 5
const NOISY_SECONDS_MAX = 3_600

const POOL_SECONDS_DEFAULT = 20
const POOL_SECONDS_MIN = 2
const POOL_SECONDS_MAX = 600

/** @throws Error that says what is wrong */
export function readArguments(given: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...given],
    options: {
      list: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      messages: { type: 'string' },
      replies: { type: 'string' },
      chunks: { type: 'string' },
      'noisy-seconds': { type: 'string' },
      'pool-seconds': { type: 'string' },
    },
  })
  const only = values.only ?? null
  const sizeOf = (name: string, inFull: number, usual: number) =>
    only?.some((figure) => figure.startsWith(name)) === true ? inFull : usual
  const messages = values.messages ?? sizeOf('build.thread1m', MESSAGES_MAX, MESSAGES_DEFAULT)
  const replies = values.replies ?? sizeOf('build.clients64', REPLIES_MAX, REPLIES_DEFAULT)
  return {
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
  }
}

function whole(name: string, given: string | number, least: number, most: number): number {
  const count = Number(given)
  if (Number.isInteger(count) && count >= least && count <= most) return count
  throw new Error(`--${name} must be a whole number from ${least} to ${most}`)
}
