import { within } from '@heddle/runtime'
import type { PostgresConnection } from 'bullmq'
import { JOBS_CHANNEL } from './listen-client.js'

interface Notification {
  readonly channel: string
  readonly payload?: string | undefined
}

/**
 * Counts the notifications of new jobs of a queue. A worker that has found its queue empty waits for the next one: BullMQ would
 * ask the server twice more before each wait, for jobs added meanwhile and for the next delayed one, which the last fetch knows.
 */
export class JobArrivals {
  readonly #queue: string
  readonly #connection: PostgresConnection
  readonly #waits = new Set<(hasArrived: boolean) => void>()
  #stopListening: (() => void) | undefined
  #count = 0
  #losses = 0
  #isListening = false

  constructor(queue: string, connection: PostgresConnection) {
    this.#queue = queue
    this.#connection = connection
    connection.on('listenerinvalidated', this.#onLoss)
  }

  /**
   * The number of notifications so far; null while some may be missed. Jobs that a fetch does not see are notified after the mark
   * that was taken before it.
   */
  get mark(): number | null {
    return this.#isListening ? this.#count : null
  }

  /** @throws the driver's error if the connection is lost */
  async open(): Promise<void> {
    if (this.#isListening) return
    const losses = this.#losses
    const client = await this.#connection.getListenClient()
    if (this.#stopListening === undefined) {
      client.on('notification', this.#onNotification)
      this.#stopListening = () => client.removeListener('notification', this.#onNotification)
    }
    await client.query(`LISTEN ${JOBS_CHANNEL}`)
    this.#isListening = losses === this.#losses
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
    this.cancelWaits()
    this.#stopListening?.()
    this.#stopListening = undefined
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
