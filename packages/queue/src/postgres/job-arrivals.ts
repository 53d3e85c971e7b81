import { within } from '@heddle/runtime'
import type { PostgresConnection } from 'bullmq'
import { JOBS_CHANNEL } from './listen-client.js'

interface Notification {
  readonly channel: string
  readonly payload?: string | undefined
}

type ListenClient = Awaited<ReturnType<PostgresConnection['getListenClient']>>

/**
 * Counts the notifications of new jobs of a queue. A worker that has found its queue empty waits for the next one. BullMQ would
 * query the server twice before each wait: for jobs added since the fetch, which are counted here, and for the next delayed job,
 * whose time the fetch returns.
 */
export class JobArrivals {
  readonly #queue: string
  readonly #connection: PostgresConnection
  readonly #waits = new Set<(hasArrived: boolean) => void>()
  #client: ListenClient | undefined
  #count = 0
  #losses = 0
  #isListening = false
  #isClosed = false

  constructor(queue: string, connection: PostgresConnection) {
    this.#queue = queue
    this.#connection = connection
    connection.on('listenerinvalidated', this.#onLoss)
  }

  /**
   * The number of notifications so far; null while some may be missed. A job that a fetch neither returned nor reported as
   * waiting or delayed is notified after the mark that was taken before the fetch.
   */
  get mark(): number | null {
    return this.#isListening ? this.#count : null
  }

  /** @throws the driver's error if the connection is lost */
  async open(): Promise<void> {
    if (this.#isListening || this.#isClosed) return
    const losses = this.#losses
    const client = await this.#connection.getListenClient()
    if (this.#isClosed) return
    if (client !== this.#client) {
      this.#client?.removeListener('notification', this.#onNotification)
      client.on('notification', this.#onNotification)
      this.#client = client
    }
    await client.query(`LISTEN ${JOBS_CHANNEL}`)
    this.#isListening = losses === this.#losses && !this.#isClosed
  }

  /** Whether a job may have arrived since the mark; false at the timeout, or once the waits are cancelled. */
  async wait(mark: number, timeoutMs: number): Promise<boolean> {
    if (mark !== this.mark) return true
    let settle = (_hasArrived: boolean) => {}
    const arrived = new Promise<boolean>((resolve) => {
      settle = resolve
    })
    this.#waits.add(settle)
    try {
      return await within(arrived, { timeoutMs, late: () => false })
    } finally {
      this.#waits.delete(settle)
    }
  }

  cancelWaits(): void {
    for (const settle of this.#waits) settle(false)
  }

  close(): void {
    this.#isClosed = true
    this.cancelWaits()
    this.#client?.removeListener('notification', this.#onNotification)
    this.#client = undefined
    this.#connection.off('listenerinvalidated', this.#onLoss)
    this.#isListening = false
  }

  readonly #onNotification = ({ channel, payload }: Notification) => {
    if (channel === JOBS_CHANNEL && payload === this.#queue) this.#arrive()
  }

  readonly #onLoss = () => {
    this.#losses++
    this.#isListening = false
    this.#arrive()
  }

  #arrive(): void {
    this.#count++
    for (const settle of this.#waits) settle(true)
  }
}
