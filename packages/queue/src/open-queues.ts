import type { MigrateQueuesOptions } from './postgres/schema.js'
import type { Queues } from './queues.js'
import type { QueuesOptions } from './queues-options.js'

/*
 * The libraries of the queues are loaded when a process connects. Handlers of jobs, which use only the types and results of this
 * package, also run in threads that have no queues: there the libraries would take some 15 MB each.
 */

/**
 * Connects to the server of the queues, and with `create` creates missing schemas and keys. Any number of processes may do
 * so at once.
 *
 * @throws PermanentError `NOT_FOUND` of the field `prefix` if no worker has ever served it
 * @throws RetryableError `SERVICE_UNAVAILABLE` if the server is down; PermanentError `UNAUTHORIZED`, `FORBIDDEN` or
 *   `NOT_FOUND` if it refuses
 */
export async function openQueues(options: QueuesOptions): Promise<Queues> {
  const { connectQueues } = await import('./connect-queues.js')
  return await connectQueues(options)
}

/**
 * Creates or upgrades BullMQ's schema, if necessary. Any number of processes may do this at once: BullMQ holds an advisory
 * lock for the schema.
 *
 * @throws RetryableError `SERVICE_UNAVAILABLE`; PermanentError `UNAUTHORIZED`, `FORBIDDEN` or `NOT_FOUND`
 */
export async function migrateQueues(options: MigrateQueuesOptions): Promise<void> {
  const schema = await import('./postgres/schema.js')
  await schema.migrateQueues(options)
}
