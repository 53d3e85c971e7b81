import type { Clock, Logger } from '@heddle/runtime'
import type { QueueConnections } from './base/connections.js'

export interface QueuesOptions {
  backend: { kind: 'redis'; url: string } | { kind: 'postgres'; url: string }
  /** Keeps installations apart on one server: 1 to 40 of a-z, 0-9, _ and -, starting with a letter. */
  prefix: string
  log: Logger
  clock?: Clock
  /** Limits of the waiting ingest jobs, above which producers are refused; null is the default of `bounds`. */
  ingestLimits?: { jobsMax: number | null; bytesMax: number | null }
  /**
   * Whether to create the prefix if no worker has ever served it: for workers and administrators. Default false: for a
   * process that only sends, an unknown prefix is an error, because nothing would process its jobs.
   */
  create?: boolean
  /** Most connections that this process opens to Postgres. Not used with Redis, which needs few. */
  connections?: QueueConnections
}
