/** Most connections that one process opens to Postgres for its queues, besides the listening one. */
export interface QueueConnections {
  /** For adding jobs and for queries about queues. */
  readonly producersMax: number
  /** For fetching and finishing jobs; opened with the first worker. */
  readonly workersMax: number
}

/** One connection on which workers wait for jobs, and replies and events arrive. It must not go through a pooler. */
export const LISTENING_CONNECTIONS = 1

/**
 * Enough for all stages in one process. Statements are short and handle many jobs at once: with more connections they would
 * only wait in the server instead of here.
 */
export const queueConnectionsDefault: QueueConnections = { producersMax: 2, workersMax: 3 }
