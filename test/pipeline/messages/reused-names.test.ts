import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { PassThrough } from 'node:stream'
import { runCli } from '@heddle/cli'
import type { IngestJob, PlacedMessage } from '@heddle/contracts'
import { describe, expect, test } from 'vitest'
import { pipelineOfTests, queueBackends } from '../support.js'

const AGENT = 'weaver'

/** An id of version 7, as clients make them, with the time of its creation. */
function newTimedId(): string {
  const digits = Date.now().toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7${randomUUID().slice(15)}`
}

describe.each(queueBackends())('the name of an erased thread on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('that is freed', () => {
    const tests = pipelineOfTests(mode)

    test('belongs to a new thread, which refuses jobs of the old one that are repeated, late or made from its messages', async () => {
      const { client, queues, projectId } = tests.pipeline
      await tests.start()
      const thread = 'nightly'
      const said = (content: string) => ({ role: 'user' as const, content, id: newTimedId() })
      const place = (message: ReturnType<typeof said>): PlacedMessage => ({
        message,
        ordinal: 0,
        orderedAt: new Date().toISOString(),
      })
      const old = said('the falcon nests in the old thread')
      const stored: IngestJob = { projectId, requestId: newTimedId(), agent: AGENT, thread, messages: [place(old)] }
      const unread = { ...stored, requestId: newTimedId(), messages: [place(said('a falcon that was still queued'))] }
      await queues.add('ingest', stored)
      await expect.poll(async () => (await client.threads.list()).items.length).toBe(1)
      await client.threads.waitUntilSettled(thread)
      expect(await client.threads.delete(thread, { reuse: true })).toMatchObject({ finished: true })
      await expect(client.threads.get(thread)).rejects.toMatchObject({ code: 'NOT_FOUND' })

      await client.messages.append({ agent: AGENT, thread, messages: [said('a new beginning')] })
      for (const job of [stored, unread, unread, stored]) {
        await queues.add('ingest', { ...job, requestId: job.requestId })
      }
      await expect(client.messages.append({ agent: AGENT, thread, messages: [old] })).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining('was erased with an earlier thread'),
      })
      await client.messages.append({ agent: AGENT, thread, messages: [said('and it goes on')] })
      await client.threads.waitUntilSettled(thread)
      await expect.poll(async () => (await queues.stats()).find(({ stage }) => stage === 'ingest')?.waiting).toBe(0)

      expect((await client.messages.list({ thread })).items.map(({ content }) => content)).toEqual([
        'a new beginning',
        'and it goes on',
      ])
      expect(await client.threads.get(thread)).toMatchObject({ messages: 2, imported: 2 })
      expect((await client.search({ query: 'falcon' })).items).toEqual([])
      expect(await client.deadLetters.list({})).toEqual([])
      const built = await client.contexts.build({ thread, message: 'next' })
      expect(built.messages.map(({ content }) => content)).toEqual(['a new beginning', 'and it goes on', 'next'])
      expect(built.receipt).toMatchObject({ eligible: 2, imported: 2 })
      expect(await client.contexts.get(built.id, { rebuild: true })).toEqual(built)
    })

    test('stays refused without reuse, with a hint how to free it, and is freed by a later erasure with reuse on the command line', async () => {
      const { client, environment } = tests.pipeline
      await tests.start()
      const append = (content: string) =>
        client.messages.append({ agent: AGENT, thread: 'kept', messages: [{ role: 'user', content }] })
      await append('old')
      await client.threads.delete('kept')
      await expect(append('refused')).rejects.toMatchObject({
        code: 'CONFLICT',
        hint: expect.stringContaining('heddle threads delete NAME --reuse'),
      })
      const [stdout, stderr] = [new PassThrough(), new PassThrough()]
      const code = await runCli(['threads', 'delete', 'kept', '--reuse', '--yes', '--json'], {
        stdout,
        stderr,
        env: { ...environment, HEDDLE_PROJECT: 'tests' },
        cwd: tmpdir(),
      })
      expect({ code, err: String(stderr.read() ?? '') }).toMatchObject({ code: 0 })
      expect(await append('new')).toMatchObject({ stored: 1 })
      expect((await client.messages.list({ thread: 'kept' })).items.map(({ content }) => content)).toEqual(['new'])
    })

    test('gets no messages from earlier snapshots, which say how many were erased', async () => {
      const { client } = tests.pipeline
      await tests.start()
      const say = (thread: string, content: string) =>
        client.messages.append({ agent: 'saver', thread, messages: [{ role: 'user', content }] })
      await say('first', 'secret of the first')
      await say('second', 'open')
      const saved = await client.snapshots.save({ agent: 'saver' })
      await client.threads.delete('first', { reuse: true })
      await say('first', 'of the new first')
      expect(await client.snapshots.restore(saved.id)).toMatchObject({ messages: 1, present: 1, erased: 1 })
      await client.agents.clear('saver')
      expect(await client.snapshots.restore(saved.id)).toMatchObject({ messages: 1, restored: 1, erased: 1 })
      const { messages } = await client.contexts.build({ thread: 'first', message: randomUUID() })
      expect(messages).toHaveLength(1)
    })
  })
})
