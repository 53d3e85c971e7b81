import { PermanentError } from '@heddle/contracts'

/** Prefixes that an error names. */
export const PREFIXES_NAMED_MAX = 10

/** What to do where a wait has ended, and no worker of any stage was heard of. */
export function noWorkers(prefix: string): string {
  return `No worker is heard of under the queue prefix "${prefix}": start one ("heddle up", or "heddle worker all"), or name the prefix of yours (HEDDLE_QUEUE_PREFIX). What was sent waits for it.`
}

/** No worker has ever been seen under a prefix: whatever is sent there would wait for nobody. */
export function unknownPrefix(prefix: string, server: 'Redis' | 'Postgres', others: readonly string[]): PermanentError {
  const existing = others.length === 0 ? 'none was seen under any other' : `there were some under ${others.join(', ')}`
  return new PermanentError(
    'NOT_FOUND',
    `prefix: no worker has ever been seen under the queue prefix "${prefix}" on this ${server}; ${existing}`,
    {
      field: 'prefix',
      received: prefix,
      facts: { prefixes: others },
      hint: 'Name the prefix and the server of your workers (HEDDLE_QUEUE_PREFIX, or prefix of openQueues). Where the prefix is new, start a worker or run "heddle migrate" first.',
    },
  )
}
