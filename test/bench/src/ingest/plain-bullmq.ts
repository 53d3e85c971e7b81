import type { QueuePlace } from '@heddle/test-support/servers/queue-server'
import { createPostgresBackend, type IQueueBackend, Queue, QueueEvents, Worker } from 'bullmq'

/** Concurrent jobs: the faster of 50 and 256 on either server. */
const CONCURRENCY = 50
const NAME = 'plain'

export interface PlainQueue {
  addAll(jobs: readonly unknown[]): Promise<void>
  /** Adds a job and waits for its end. */
  run(job: unknown): Promise<void>
  close(): Promise<void>
}

/** A plain BullMQ queue, as in its manual. */
export async function openPlainQueue(place: QueuePlace): Promise<PlainQueue> {
  if (place.backend.kind === 'redis') {
    return await plainQueue(new Queue(NAME, redisOf(place)), new QueueEvents(NAME, redisOf(place)))
  }
  const options = { connection: postgresOf(place) }
  const queue = new Queue(NAME, options, createPostgresBackend)
  // Creates the schema.
  await queue.waitUntilReady()
  return await plainQueue(queue, new QueueEvents(NAME, options, createPostgresBackend))
}

async function plainQueue<B extends IQueueBackend, C>(
  queue: Queue<unknown, void, string, unknown, void, string, B, C>,
  events: QueueEvents<unknown, B, C>,
): Promise<PlainQueue> {
  await Promise.all([queue.waitUntilReady(), events.waitUntilReady()])
  return {
    async addAll(jobs) {
      await queue.addBulk(jobs.map((data) => ({ name: NAME, data, opts: { removeOnComplete: true } })))
    },
    async run(data) {
      // A waiting caller also reads the job itself.
      const job = await queue.add(NAME, data, { removeOnComplete: { count: 100 } })
      await job.waitUntilFinished(events)
    },
    async close() {
      await events.close()
      await queue.obliterate({ force: true }).finally(() => queue.close())
    },
  }
}

/** A plain BullMQ worker with empty jobs. */
export async function startPlainWorker(place: QueuePlace, onDone: () => void): Promise<{ close(): Promise<void> }> {
  const doNothing = async () => {}
  const worker =
    place.backend.kind === 'redis'
      ? new Worker(NAME, doNothing, { ...redisOf(place), concurrency: CONCURRENCY })
      : new Worker(NAME, doNothing, { connection: postgresOf(place), concurrency: CONCURRENCY }, createPostgresBackend)
  worker.on('completed', onDone)
  await worker.waitUntilReady()
  return worker
}

function redisOf({ backend, prefix }: QueuePlace) {
  return { connection: { url: backend.url }, prefix }
}

function postgresOf({ backend, prefix }: QueuePlace) {
  return { connectionString: backend.url, schema: prefix.replaceAll('-', '_'), migrate: true }
}
