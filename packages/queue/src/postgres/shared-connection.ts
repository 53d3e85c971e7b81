import { PostgresConnection, type PostgresConnectionOptions } from 'bullmq'
import { ListenClient } from './listen-client.js'
import type { PostgresListener } from './listener.js'

type BullListenClient = Awaited<ReturnType<PostgresConnection['getListenClient']>>

/**
 * BullMQ's connection, for several queues and workers at once. BullMQ would open another one for the workers to wait on; here
 * they wait on the connection on which the process listens anyway.
 *
 * A client reports the loss of its connection as an event besides, which ends the process where nobody hears it. The pool
 * hears its clients except while they are lent, and BullMQ does not hear the one that it borrows to begin with.
 */
export class SharedPostgresConnection extends PostgresConnection {
  readonly #listenClient: ListenClient

  constructor(options: PostgresConnectionOptions, listener: PostgresListener) {
    super(options)
    // Its query fails by itself.
    this.pool.on('connect', (client) => void client.on('error', () => {}))
    this.#listenClient = new ListenClient(listener)
    // Whoever waits for a job is woken, and listens anew.
    listener.onLost(() => this.emit('listenerinvalidated'))
  }

  override async getListenClient(): Promise<BullListenClient> {
    return this.#listenClient
  }
}
