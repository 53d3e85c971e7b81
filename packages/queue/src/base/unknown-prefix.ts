import { PermanentError } from '@heddle/contracts'

/** Most prefixes listed in an error. */
export const PREFIXES_NAMED_MAX = 10

/** The hint of a timeout without a report from a worker of any stage. */
export function noWorkers(prefix: string): string {
  return `No worker reports under the queue prefix "${prefix}": start one ("heddle up", or "heddle worker all"), or set the prefix of your workers (HEDDLE_QUEUE_PREFIX). The request stays in the queue until then.`
}

/** The error for a prefix that no worker has ever served: jobs sent there would never be processed. */
export function unknownPrefix(prefix: string, server: 'Redis' | 'Postgres', others: readonly string[]): PermanentError {
  const existing = others.length === 0 ? 'there is no other prefix' : `existing prefixes: ${others.join(', ')}`
  return new PermanentError(
    'NOT_FOUND',
    `prefix: no worker has ever served the queue prefix "${prefix}" on this ${server}; ${existing}`,
    {
      field: 'prefix',
      received: prefix,
      facts: { prefixes: others },
      hint: 'Set the prefix and the server of your workers (HEDDLE_QUEUE_PREFIX, or prefix of openQueues). If the prefix is new, start a worker or run "heddle migrate" first.',
    },
  )
}
