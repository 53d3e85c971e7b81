import { waitFor } from '@heddle/test-support'
import postgres from 'postgres'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openPipeline, type Pipeline, queueBackends } from '../pipeline/support.js'
import { startWorkers } from './workers.js'

const AGENT = 'coder'
const THREAD = 'cloth'
/** The job of a killed worker is processed again after its lock has expired and the next check: about 25 s. */
const DEADLINE_MS = 150_000
const PATIENCE = { timeout: 400_000 }

// Embedded differs from postgres only in the origin of the server, not in the work of the workers.
describe.each(queueBackends())(
  'a worker that is killed between the build of a context and its commit on $title',
  ({ mode, skip }) => {
    test.skipIf(skip)('leaves the request in its job to another worker', PATIENCE, async () => {
      const pipeline = await openPipeline(mode)
      onTestFinished(() => pipeline.close())
      const { client } = pipeline
      const killed = await startWorkers(pipeline)
      await client.messages.append({ agent: AGENT, thread: THREAD, messages: [{ role: 'user', content: 'Warp it.' }] })
      await client.threads.waitUntilSettled(THREAD, { deadlineMs: DEADLINE_MS })

      const held = await holdCommits(pipeline)
      const building = client.contexts.build({ thread: THREAD, message: 'Weave it.' }, { deadlineMs: DEADLINE_MS })
      building.catch(() => {})
      const transaction = await held.whenWaiting()
      killed.kill('SIGKILL')
      await killed.exited
      await held.release(transaction)

      const next = await startWorkers(pipeline)
      const built = await building
      expect(JSON.stringify(built.messages)).toContain('Weave it.')
      expect(await client.contexts.get(built.id, { rebuild: true })).toEqual(built)
      expect((await client.contexts.list({ thread: THREAD })).items.map(({ id }) => id)).toEqual([built.id])
      next.kill('SIGKILL')
      await next.exited
    })
  },
)

/** Blocks the commit of contexts. */
async function holdCommits({ databaseUrl }: Pipeline) {
  const sql = postgres(databaseUrl, { max: 2, onnotice: () => {} })
  onTestFinished(() => sql.end({ timeout: 1 }))
  const holding = await sql.reserve()
  await holding`begin`
  await holding`lock table heddle.context_lines in exclusive mode`
  return {
    /** The server process of the transaction that would store a context. */
    async whenWaiting(): Promise<number> {
      const pids = () => sql<{ pid: number }[]>`
        select pid from pg_locks
        where database = (select oid from pg_database where datname = current_database())
          and relation = 'heddle.context_lines'::regclass and mode = 'RowExclusiveLock' and not granted`
      await waitFor(async () => (await pids()).length > 0, { what: 'a context to be stored', timeoutMs: DEADLINE_MS })
      return (await pids())[0]?.pid ?? 0
    },
    /** The transaction is ended first: otherwise its server would commit it, though its client is dead. */
    async release(pid: number): Promise<void> {
      const [ended] = await sql<{ isEnded: boolean }[]>`select pg_terminate_backend(${pid}, 10_000) as "isEnded"`
      expect(ended?.isEnded).toBe(true)
      await holding`rollback`
      holding.release()
    },
  }
}
