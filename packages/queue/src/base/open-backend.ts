import type { Clock, Logger } from '@heddle/runtime'
import { openPostgresBackend } from '../postgres/backend.js'
import { openRedisBackend } from '../redis/backend.js'
import type { Backend, QueueFacts } from './backend.js'
import { type QueueConnections, queueConnectionsDefault } from './connections.js'

export interface OpenBackendOptions {
  backend: { kind: 'redis'; url: string } | { kind: 'postgres'; url: string }
  prefix: string
  clock: Clock
  create: boolean
  connections?: QueueConnections
  onError(error: unknown): void
}

export function openBackend(options: OpenBackendOptions): Promise<Backend> {
  const { backend, prefix, create, onError } = options
  if (backend.kind === 'redis') return openRedisBackend({ url: backend.url, prefix, create, onError })
  const connections = options.connections ?? queueConnectionsDefault
  return openPostgresBackend({ url: backend.url, prefix, clock: options.clock, create, connections, onError })
}

/** Logs problems of the server's settings, once for all queues and workers of a process. */
export async function warnOfSettings(facts: Promise<QueueFacts>, log: Logger): Promise<void> {
  const { server, warnings } = await facts
  for (const { what, hint } of warnings) log.warn({ server, hint }, what)
}
