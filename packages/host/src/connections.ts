import type { StageName } from '@heddle/contracts'
import { LISTENING_CONNECTIONS, type QueueConnections } from '@heddle/queue'
import type { Config } from '@heddle/runtime'

/** Most connections that one process opens to Postgres. */
export interface Connections {
  readonly store: number
  readonly queues: QueueConnections
  /** Of the threads for large jobs, which start with the first such job. */
  readonly threads: number
  /** The sum; connections of the queues count only if the queues are in Postgres. */
  readonly total: number
}

/** Pool sizes of a process that runs several stages, one stage, or none. */
const sizes = {
  stages: { store: 4, producers: 2, workers: 3 },
  stage: { store: 3, producers: 2, workers: 2 },
  sender: { store: 4, producers: 2, workers: 0 },
} as const

/** The stages that run large jobs in threads, and the number of threads that they share. */
const THREADED: readonly StageName[] = ['prune', 'summarize', 'remember', 'assemble']
const THREADS = 2
/** A thread computes one job at a time: with more connections its other jobs would still wait. */
export const CONNECTIONS_PER_THREAD = 1

/**
 * Sizes the pools of a process by the stages that it runs. Transactions and statements are short, and a server runs as many
 * of them at once as it has cores; so a process needs few connections, and a server with the usual 100 connections suffices
 * for more than ten processes.
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
