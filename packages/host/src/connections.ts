import type { StageName } from '@heddle/contracts'
import { LISTENING_CONNECTIONS, type QueueConnections } from '@heddle/queue'
import type { Config } from '@heddle/runtime'

/** What one process opens to Postgres at most. */
export interface Connections {
  readonly store: number
  readonly queues: QueueConnections
  /** Of the threads for large jobs, once there are any. */
  readonly threads: number
  /** All of them; those of the queues count only where the queues are in Postgres. */
  readonly total: number
}

/** What a process does: it runs several stages, one, or none and only sends and asks. */
const sizes = {
  stages: { store: 4, producers: 2, workers: 3 },
  stage: { store: 3, producers: 2, workers: 2 },
  sender: { store: 4, producers: 2, workers: 0 },
} as const

/** The stages that carry out large jobs in threads, and how many threads they share. */
const THREADED: readonly StageName[] = ['prune', 'summarize', 'assemble']
const THREADS = 2
/** A thread computes on one job at a time: others of its jobs would wait for it with a connection of their own, too. */
export const CONNECTIONS_PER_THREAD = 1

/**
 * Sizes the pools of a process by the stages that it runs. Transactions and statements are short, and a server does no more
 * of them at once than it has cores; so a process needs few connections, and a server of the usual 100 has room for ten
 * processes and more.
 */
export function connectionsOf(
  { connections, redisUrl }: Pick<Config, 'connections' | 'redisUrl'>,
  stages: readonly StageName[],
): Connections {
  const size = sizes[stages.length > 1 ? 'stages' : stages.length === 1 ? 'stage' : 'sender']
  const store = connections.store ?? size.store
  const workers = stages.length === 0 ? 0 : (connections.workers ?? size.workers)
  const threads = stages.some((stage) => THREADED.includes(stage)) ? THREADS * CONNECTIONS_PER_THREAD : 0
  const queues = { producersMax: size.producers, workersMax: workers }
  return {
    store,
    queues,
    threads,
    total: store + threads + (redisUrl === null ? queues.producersMax + queues.workersMax + LISTENING_CONNECTIONS : 0),
  }
}
