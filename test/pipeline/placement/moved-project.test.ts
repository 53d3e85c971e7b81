import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { runCli } from '@heddle/cli'
import { projectIdOf } from '@heddle/core'
import { type FreshDatabase, migratedDatabase } from '@heddle/test-support'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'

const THREADS = ['one', 'two']

describe.each(queueBackends())('a project that moves to another database, queues on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('', () => {
    let pipeline: Pipeline
    let other: FreshDatabase
    beforeAll(async () => {
      other = await migratedDatabase()
      const settings = { rollingWindow: null, budget: 3_000 }
      pipeline = await openPipeline(mode, settings, { b: { url: other.url } })
      await pipeline.start()
      for (const thread of THREADS) await append(thread, 0, 40)
      const { items } = pipeline.client
      await items.put('coder', { type: 'rule', name: 'keep', text: 'Keep them.', include: 'always' })
      for (const thread of THREADS) await pipeline.client.threads.waitUntilSettled(thread)
    }, 120_000)
    afterAll(async () => {
      await pipeline?.close()
      await other?.drop()
    })

    async function append(thread: string, from: number, count: number, agent = 'coder'): Promise<void> {
      const messages = Array.from({ length: count }, (_, index) => ({
        role: (from + index) % 2 === 0 ? ('user' as const) : ('assistant' as const),
        content: `${from + index}: ${'a text with words and wool '.repeat(20)}`,
      }))
      await pipeline.directClient.messages.append({ agent, thread, messages })
    }

    async function heddle(argv: readonly string[]) {
      const [stdout, stderr] = [new PassThrough(), new PassThrough()]
      const env = { ...pipeline.environment, HEDDLE_PROJECT: 'tests', HEDDLE_DATABASES: `b=${other.url}` }
      const code = await runCli([...argv, '--json'], { stdout, stderr, env, cwd: tmpdir() })
      const [out, err] = [String(stdout.read() ?? ''), String(stderr.read() ?? '')]
      return { code, document: out === '' ? null : JSON.parse(out), error: err === '' ? null : JSON.parse(err).error }
    }

    /** The contexts of the threads and the results of a search, as their callers get them. */
    async function answers(): Promise<unknown> {
      const { client } = pipeline
      const built = []
      for (const thread of THREADS) {
        const { messages, tokensUsed } = await client.contexts.build({ agent: 'coder', thread, format: 'openai-chat' })
        built.push({ messages: JSON.stringify(messages), tokensUsed })
      }
      return { built, found: await client.search({ agent: 'coder', query: 'wool 17' }) }
    }

    test('answers as before, byte for byte, and its stages go on there', async () => {
      const earlier = await pipeline.client.contexts.build({ agent: 'coder', thread: 'one' })
      const before = await answers()
      let [isMoved, written] = [false, 0]
      const writing = (async () => {
        for (; !isMoved || written < 20; written++) await append('busy', written, 1, 'writer')
      })()
      const moved = await heddle(['projects', 'move', '--to', 'b'])
      isMoved = true
      await writing
      expect(moved).toMatchObject({ code: 0, document: { project: 'tests', state: 'done', to: 'b' } })
      expect(await answers()).toEqual(before)
      expect((await pipeline.client.contexts.get(earlier.id)).messages).toEqual(earlier.messages)
      await append('one', 40, 40)
      await pipeline.client.threads.waitUntilSettled('one')
      const sql = postgres(other.url, { max: 1 })
      onTestFinished(() => sql.end())
      const [row] = await sql<{ count: number }[]>`
        select count(*)::integer as count from heddle.messages where project_id = ${projectIdOf('tests')}`
      expect(row?.count).toBe(120 + written)
    })

    test('is listed and backed up where it is', async () => {
      const listed = await heddle(['projects', 'list'])
      expect(listed.document.items).toMatchObject([
        { project: 'tests', database: 'b', move: { from: 'default', to: 'b', state: 'done' } },
      ])
      const folder = await mkdtemp(join(tmpdir(), 'heddle-placement-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      const file = join(folder, 'tests.heddle-backup')
      expect((await heddle(['backup', file])).document).toMatchObject({ projects: ['tests'] })
      expect((await heddle(['backup', file, '--all'])).error).toMatchObject({ field: 'database' })
      const whole = await heddle(['backup', file, '--all', '--database', 'b'])
      expect(whole.document).toMatchObject({ projects: ['tests'], isWhole: true })
    })
  })
})
