import { EventEmitter } from 'node:events'
import { PostgresConnection, type PostgresConnectionOptions } from 'bullmq'

/** Workers of one process before Node warns of a leak: a set of five stages for each of twenty tenants. */
const WORKERS_MAX = 100

type ListenClient = Awaited<ReturnType<PostgresConnection['getListenClient']>>

/**
 * BullMQ's connection, for several workers that wait on it at once. Each of them subscribes on the same client, and `pg`
 * wants one query at a time (from version 9 on it refuses more), so these take turns.
 *
 * A client reports the loss of its connection as an event besides, which ends the process where nobody hears it. The pool
 * hears its clients except while they are lent, and BullMQ does not hear the one that it borrows to begin with.
 */
export class SharedPostgresConnection extends PostgresConnection {
  readonly #inTurn = new WeakSet<ListenClient>()

  constructor(options: PostgresConnectionOptions) {
    super(options)
    // Its query fails by itself.
    this.pool.on('connect', (client) => void client.on('error', () => {}))
  }

  override async getListenClient(): Promise<ListenClient> {
    const client = await super.getListenClient()
    if (this.#inTurn.has(client)) return client
    this.#inTurn.add(client)
    // Each of them listens on it, too: that many are no leak.
    if (client instanceof EventEmitter) client.setMaxListeners(WORKERS_MAX)
    const query = client.query.bind(client)
    let turn: Promise<unknown> = Promise.resolve()
    client.query = (text, values) => {
      const asked = turn.then(() => query(text, values))
      turn = asked.catch(() => {})
      return asked as never
    }
    return client
  }
}
