/// <reference path="./pg.d.ts" />
import { backOffMs, type Clock } from '@heddle/runtime'
import pg, { type Client, type Notification } from 'pg'
import { bounds } from '../base/bounds.js'
import { unavailable } from '../base/errors.js'
import { inTime, settles } from '../base/waiting.js'

export interface PostgresListenerOptions {
  url: string
  clock: Clock
  onError(error: unknown): void
}

/**
 * The listening connection of the process. A connection that only listens would never notice that its server is gone, so it
 * sends a query from time to time; a lost connection is reopened with all its channels. Messages that were sent in between
 * are lost, so their receivers also poll the store.
 */
export class PostgresListener {
  readonly #options: PostgresListenerOptions
  readonly #receivers = new Map<string, (text: string) => void>()
  readonly #whenLost: (() => void)[] = []
  readonly #closing = new AbortController()
  #client: Client | undefined
  #reconnecting: Promise<void> | undefined
  /** Settles with the last query: `pg` accepts one at a time. */
  #lastQuery: Promise<unknown> = Promise.resolve()

  constructor(options: PostgresListenerOptions) {
    this.#options = options
  }

  /** @throws the driver's error if the first connection fails; later ones are retried */
  async open(): Promise<void> {
    await this.#connect()
    void this.#watch()
  }

  /** Calls back each time the connection is lost: messages are lost until it is open again. */
  onLost(callback: () => void): void {
    this.#whenLost.push(callback)
  }

  async listen(channel: string, receive: (text: string) => void): Promise<void> {
    this.#receivers.set(channel, receive)
    try {
      await inTime(this.#listenNow(channel), bounds.producerWaitMs, () => unavailable('Postgres'))
    } catch (error) {
      this.#receivers.delete(channel)
      throw error
    }
  }

  async unlisten(channel: string): Promise<void> {
    this.#receivers.delete(channel)
    await this.#query(`UNLISTEN "${channel}"`)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#receivers.clear()
    const client = this.#client
    this.#client = undefined
    if (client !== undefined) await end(client)
  }

  async #listenNow(channel: string): Promise<void> {
    // The new connection listens to every channel that is registered, this one included.
    if (this.#client === undefined) return this.#reconnecting
    await this.#query(`LISTEN "${channel}"`)
  }

  #query(text: string): Promise<unknown> {
    const result = this.#lastQuery.then(() => this.#client?.query(text))
    this.#lastQuery = result.catch(() => {})
    return result
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: bounds.connectMs,
      query_timeout: bounds.connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      application_name: 'heddle-listen',
    })
    client.on('error', (error: unknown) => this.#lost(client, error))
    client.on('end', () => this.#lost(client, new Error('Connection terminated')))
    client.on('notification', ({ channel, payload }: Notification) => this.#receivers.get(channel)?.(payload ?? ''))
    try {
      await client.connect()
      for (const channel of this.#receivers.keys()) await client.query(`LISTEN "${channel}"`)
    } catch (error) {
      await end(client)
      throw error
    }
    if (this.#closing.signal.aborted) await end(client)
    else this.#client = client
  }

  #lost(client: Client, error: unknown): void {
    if (client !== this.#client || this.#closing.signal.aborted) return
    this.#client = undefined
    this.#options.onError(error)
    void end(client)
    this.#reconnecting = this.#reconnect()
    for (const callback of this.#whenLost) callback()
  }

  async #reconnect(): Promise<void> {
    const { clock, onError } = this.#options
    for (let tries = 0; !this.#closing.signal.aborted; tries++) {
      try {
        const pauseMs = backOffMs(tries, { firstMs: 100, maxMs: bounds.reconnectMsMax })
        await clock.wait(pauseMs, this.#closing.signal)
        await this.#connect()
        return
      } catch (error) {
        if (!this.#closing.signal.aborted) onError(error)
      }
    }
  }

  async #watch(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const client = this.#client
      try {
        await this.#options.clock.wait(bounds.heartbeatMs, this.#closing.signal)
        await this.#query('SELECT 1')
      } catch (error) {
        if (client !== undefined) this.#lost(client, error)
      }
    }
  }
}

async function end(client: Client): Promise<void> {
  await settles(client.end(), 1_000)
}
