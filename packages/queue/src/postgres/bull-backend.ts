import { PostgresQueueBackend } from 'bullmq'
import { bounds } from '../bounds.js'

/**
 * BullMQ's Postgres backend over a connection that several queues or workers share. BullMQ would open a pool of ten
 * connections for each of them, which with five stages is more than a server of 100 connections has for two processes.
 */
export class SharedPostgresBackend extends PostgresQueueBackend {
  override get maximumBlockTimeout(): number {
    return bounds.blockSecondsMax
  }

  /** Ends this worker's part; the connection belongs to the `Queues` and closes with it. */
  override close(): Promise<void> {
    this.closing ??= this.disconnectBlocking()
    return this.closing
  }

  override disconnect(): Promise<void> {
    return this.close()
  }
}
