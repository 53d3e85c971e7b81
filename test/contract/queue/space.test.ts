import { done, type Queues } from '@heddle/queue'
import { backends } from '@heddle/test-support'
import { queueSchema } from '@heddle/test-support/servers/queue-server'
import postgres from 'postgres'
import { describe, expect, it } from 'vitest'
import { freshPlace, ingestJob, type QueuePlace, queuesAt, startWorker } from './support.js'

const JOBS = 400
/** An empty table of jobs with its indexes takes less. */
const IDLE_BYTES_MAX = 262_144

describe.each(backends().filter(({ kind }) => kind === 'postgres'))(
  'the tables of jobs on $title',
  ({ skip, open }) => {
    async function bytes({ backend, prefix }: QueuePlace): Promise<number> {
      const sql = postgres(backend.url, { max: 1 })
      const [row] = await sql<{ bytes: number }[]>`
      select sum(pg_total_relation_size(oid))::float8 as bytes from pg_class
      where relnamespace = to_regnamespace(${queueSchema(prefix)}) and relkind = 'r'`
      await sql.end()
      return row?.bytes ?? 0
    }

    async function work(queues: Queues): Promise<void> {
      const content = Array.from({ length: 200 }, () => Math.random().toString(36)).join('')
      const [message] = ingestJob().messages
      if (message === undefined) throw new Error('a job without a message')
      const job = () => ingestJob({ messages: [{ ...message, message: { ...message.message, content } }] })
      const worker = await startWorker({ stage: 'ingest', queues, handler: async () => done() })
      await queues.addMany('ingest', Array.from({ length: JOBS }, job))
      await worker.whenSettled(JOBS)
      await worker.handle.close()
    }

    it.skipIf(skip)('do not grow with the number of finished jobs', async () => {
      const at = await freshPlace(open)
      const queues = await queuesAt(at)
      await work(queues)
      expect(await bytes(at)).toBeGreaterThan(4 * IDLE_BYTES_MAX)
      expect(await queues.releaseSpace()).toBeGreaterThan(0)
      // Rows that a running transaction may still read are kept until the next time.
      const released = async () => {
        await queues.releaseSpace()
        return await bytes(at)
      }
      await expect.poll(released, { timeout: 10_000 }).toBeLessThan(2 * IDLE_BYTES_MAX)
      expect(await queues.releaseSpace()).toBe(0)
      // Jobs go on as before.
      await work(queues)
    })
  },
)
