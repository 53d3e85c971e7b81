import { PostgresConnection } from 'bullmq'

type ListenClient = Awaited<ReturnType<PostgresConnection['getListenClient']>>

/**
 * BullMQ's connection, for several workers that wait on it at once. Each of them subscribes on the same client, and `pg`
 * wants one query at a time (from version 9 on it refuses more), so these take turns.
 */
export class SharedPostgresConnection extends PostgresConnection {
  readonly #inTurn = new WeakSet<ListenClient>()

  override async getListenClient(): Promise<ListenClient> {
    const client = await super.getListenClient()
    if (this.#inTurn.has(client)) return client
    this.#inTurn.add(client)
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
