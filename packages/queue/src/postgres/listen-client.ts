import { EventEmitter } from 'node:events'
import type { PostgresConnection } from 'bullmq'
import type { PostgresListener } from './listener.js'

/** The channel on which BullMQ notifies of new jobs, with the name of their queue. */
export const JOBS_CHANNEL = 'bullmq_jobs'
/** Listeners before Node warns of a leak: two of each worker, with a set of five stages for each of twenty tenants. */
export const WORKER_LISTENERS_MAX = 2 * 100

type BullListenClient = Awaited<ReturnType<PostgresConnection['getListenClient']>>

/**
 * The client on which BullMQ's workers wait for jobs. BullMQ would open one for each worker; this one uses the listening
 * connection of the process, which also receives replies and events.
 */
export class ListenClient extends EventEmitter implements BullListenClient {
  readonly #listener: PostgresListener
  #listening: Promise<void> | undefined

  constructor(listener: PostgresListener) {
    super()
    this.setMaxListeners(WORKER_LISTENERS_MAX)
    this.#listener = listener
    listener.onLost(() => {
      this.#listening = undefined
    })
  }

  /**
   * Workers send one statement through this client, `LISTEN bullmq_jobs`, at their start and after each lost connection.
   * Concurrent calls share one statement.
   */
  async query<Row>(): Promise<{ rows: Row[] }> {
    const listening = this.#listening ?? this.#listen()
    this.#listening = listening
    try {
      await listening
    } catch (error) {
      if (this.#listening === listening) this.#listening = undefined
      throw error
    }
    return { rows: [] }
  }

  #listen(): Promise<void> {
    return this.#listener.listen(JOBS_CHANNEL, (payload) =>
      this.emit('notification', { channel: JOBS_CHANNEL, payload }),
    )
  }
}
