import { PostgresConnection, type PostgresConnectionOptions } from 'bullmq'
import { ListenClient } from './listen-client.js'
import type { PostgresListener } from './listener.js'

type BullListenClient = Awaited<ReturnType<PostgresConnection['getListenClient']>>
/** BullMQ's type of the driver's pool leaves out what it does not use. */
type IdlePool = PostgresConnection['pool'] & { readonly idleCount?: number }

/**
 * BullMQ's connection, shared by several queues and workers. BullMQ would open another one for the workers to wait on; here
 * they wait on the listening connection of the process.
 *
 * A client also reports a lost connection as an `error` event, which ends the process if there is no listener. The pool
 * listens to its clients except while they are checked out, and BullMQ does not listen to the one that it checks out first.
 */
export class SharedPostgresConnection extends PostgresConnection {
  readonly #listenClient: ListenClient

  constructor(options: PostgresConnectionOptions, listener: PostgresListener) {
    super(options)
    // The current query fails anyway.
    this.pool.on('connect', (client) => void client.on('error', () => {}))
    this.#listenClient = new ListenClient(listener)
    listener.onLost(() => {
      // Wakes waiting workers, which then send LISTEN again.
      this.emit('listenerinvalidated')
      this.#discardIdle()
    })
  }

  /** A lost listening connection suggests a cut network, which unused connections would not notice. */
  #discardIdle(): void {
    const pool: IdlePool = this.pool
    for (let idle = pool.idleCount ?? 0; idle > 0; idle--) {
      pool.connect().then(
        (client) => client.release(true),
        () => {},
      )
    }
  }

  override async getListenClient(): Promise<BullListenClient> {
    return this.#listenClient
  }
}
