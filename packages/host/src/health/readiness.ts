import { errorData, HeddleError, RetryableError } from '@heddle/contracts'
import { type Clock, within } from '@heddle/runtime'

/** A server that a process works with. */
export interface AskedServer {
  /** What it is, for people: `Postgres (store)`. */
  readonly name: string
  ping(): Promise<unknown>
}

/** A probe waits a second or a few; a server that takes longer is of no use either. */
const ANSWER_WITHIN_MS = 2_000

/**
 * Asks all servers at once, and waits for none of them for long.
 *
 * @throws RetryableError `SERVICE_UNAVAILABLE` that names every server that is away
 */
export async function checkServers(servers: readonly AskedServer[], clock: Clock): Promise<void> {
  const answers = await Promise.all(servers.map((server) => faultOf(server, clock)))
  const away = answers.filter((answer) => answer !== null)
  if (away.length === 0) return
  const names = away.map(({ name }) => name)
  throw new RetryableError(
    'SERVICE_UNAVAILABLE',
    `away: ${away.map(({ name, why }) => `${name}: ${why}`).join('; ')}`,
    {
      facts: { away: names },
      hint:
        hintOf(away) ??
        `Check that ${names.join(' and ')} can be reached; this process goes on by itself when that is so. "heddle doctor" tells more.`,
      retryAfter: 1,
    },
  )
}

interface Fault {
  readonly name: string
  readonly why: string
  readonly hint: string | undefined
}

/** What the servers themselves say is to be done, each once; null where one of them says nothing. */
function hintOf(faults: readonly Fault[]): string | null {
  const hints = new Set(faults.map(({ hint }) => hint))
  return hints.has(undefined) ? null : [...hints].join(' ')
}

async function faultOf({ name, ping }: AskedServer, clock: Clock): Promise<Fault | null> {
  const late = () => {
    throw new RetryableError('TIMEOUT', `no answer within ${ANSWER_WITHIN_MS / 1_000} s`)
  }
  try {
    await within(ping(), { timeoutMs: ANSWER_WITHIN_MS, late, clock })
    return null
  } catch (error) {
    const hint = error instanceof HeddleError ? error.hint : undefined
    const why = errorData(error).detail.replace(/\s+/g, (run) => (run.includes('\n') ? ' ' : run))
    return { name, why, hint }
  }
}
