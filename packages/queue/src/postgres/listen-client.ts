import { EventEmitter } from 'node:events'
import type { PostgresConnection } from 'bullmq'
import type { PostgresListener } from './listener.js'

/** Where BullMQ announces new jobs, with the name of their queue. */
const JOBS_CHANNEL = 'bullmq_jobs'
/** Workers of one process before Node warns of a leak: a set of five stages for each of twenty tenants. */
const WORKERS_MAX = 100

type BullListenClient = Awaited<ReturnType<PostgresConnection['getListenClient']>>

/**
 * What BullMQ's workers take for a client of their own on which they wait for jobs. It is the one connection of the process
 * that listens, which replies and events use, too.
 */
export class ListenClient extends EventEmitter implements BullListenClient {
  readonly #listener: PostgresListener
  #listening: Promise<void> | undefined

  constructor(listener: PostgresListener) {
    super()
    this.setMaxListeners(WORKERS_MAX)
    this.#listener = listener
    listener.onLost(() => {
      this.#listening = undefined
    })
  }

  /**
   * Workers ask a client of this kind for one thing, `LISTEN bullmq_jobs`, each by itself and each time after the connection
   * was lost. Of those that ask at once, one speaks for all.
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
