/** Connections that one process opens to Postgres for its queues at most, besides the one on which it listens. */
export interface QueueConnections {
  /** For adding jobs, and for all that is asked about queues. */
  readonly producersMax: number
  /** For taking and finishing jobs; opened with the first worker. */
  readonly workersMax: number
}

/** One connection on which workers wait for jobs, and replies and events arrive. It must not go through a pooler. */
export const LISTENING_CONNECTIONS = 1

/**
 * Enough for all stages in one process. Statements are short, and do what they do for many jobs at once: more connections
 * let more of them wait in the server instead of here.
 */
export const queueConnectionsDefault: QueueConnections = { producersMax: 2, workersMax: 3 }
