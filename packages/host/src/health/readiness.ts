import { errorData, HeddleError, RetryableError } from '@heddle/contracts'
import { type Clock, within } from '@heddle/runtime'

/** A server that a process needs. */
export interface RequiredServer {
  /** Name in messages: `Postgres (store)`. */
  readonly name: string
  ping(): Promise<unknown>
}

/** Probes wait for one or a few seconds; a slower server counts as down. */
const ANSWER_WITHIN_MS = 2_000

/**
 * Pings all servers concurrently, with a time limit.
 *
 * @throws RetryableError `SERVICE_UNAVAILABLE` with the name of every server that is down
 */
export async function checkServers(servers: readonly RequiredServer[], clock: Clock): Promise<void> {
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
        `Check that ${names.join(' and ')} can be reached; this process resumes by itself then. "heddle doctor" shows details.`,
      retryAfter: 1,
    },
  )
}

interface Fault {
  readonly name: string
  readonly why: string
  readonly hint: string | undefined
}

/** The hints of the servers' errors, each once; null if one of them has no hint. */
function hintOf(faults: readonly Fault[]): string | null {
  const hints = new Set(faults.map(({ hint }) => hint))
  return hints.has(undefined) ? null : [...hints].join(' ')
}

async function faultOf({ name, ping }: RequiredServer, clock: Clock): Promise<Fault | null> {
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
