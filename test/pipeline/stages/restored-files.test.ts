import type { Client, NewMessage } from '@heddle/client/interface'
import type { SnapshotFile } from '@heddle/contracts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'

let count = 0
const freshNames = () => ({ agent: `agent ${++count}`, thread: `thread ${count}` })
const say = (content: string, fields: Partial<NewMessage> = {}): NewMessage => ({ role: 'user', content, ...fields })

const call = { id: 'c1', name: 'Bash', arguments: { command: 'ls' } }
const talk = [
  say('list them', { sourceId: 'chat-1', metadata: { channel: 'x' } }),
  say('', { role: 'assistant', toolCalls: [call], thinking: [{ text: 'hm', signature: 's' }] }),
  say('a b', { role: 'tool_result', toolCallId: 'c1', toolName: 'Bash' }),
  say('there are two', { role: 'assistant', model: 'gpt-5-mini', pinned: true }),
]

async function shown(client: Client, thread: string): Promise<unknown[]> {
  const { messages } = await client.contexts.build({ thread, message: 'next', budget: 100_000 })
  return messages.slice(0, -1)
}

const numbered = (index: number) => `message ${String(index).padStart(4, '0')}`

/** A file of another installation, with numbered messages of one thread. */
function fileOf(options: { session: string; thread: string; from: number; length: number }): SnapshotFile {
  const { session, thread, from, length } = options
  const timestamp = '2026-02-12T14:30:00.000Z'
  const messages = Array.from({ length }, (_, at) => ({
    id: `018f0000-0000-7000-8000-${(from + at).toString(16).padStart(12, '0')}`,
    thread_id: thread,
    role: (from + at) % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: numbered(from + at),
    timestamp,
  }))
  return {
    session_id: session,
    timestamp,
    description: null,
    summary: 'They counted.',
    message_count: length,
    window_start: null,
    window_end: timestamp,
    messages,
  }
}

/** The contents that a thread shows, in the order of the conversation. */
async function contentsOf(client: Client, thread: string): Promise<string[]> {
  const { messages } = await client.contexts.build({ thread, message: 'next', budget: 100_000 })
  return messages.slice(0, -1).map(({ content }) => String(content))
}

describe.each(queueBackends())('a restore of the file of a snapshot on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('through the workers', () => {
    let pipeline: Pipeline
    let client: Client
    beforeAll(async () => {
      pipeline = await openPipeline(mode, { rollingWindow: null })
      await pipeline.start(['ingest', 'prune', 'assemble'])
      client = pipeline.client
    })
    afterAll(() => pipeline?.close())

    async function saved(names = freshNames()): Promise<SnapshotFile> {
      await client.messages.append({ ...names, messages: talk })
      return await client.snapshots.get((await client.snapshots.save({ agent: names.agent })).id)
    }

    test('of another installation makes the messages again in a new thread, once, also if two restore it again at once', async () => {
      const names = freshNames()
      const file = await saved(names)
      const before = await shown(client, names.thread)
      const other = pipeline.clientOf(`elsewhere ${count}`)
      const thread = `session-${file.messages[0]?.thread_id}`
      const restored = await other.snapshots.restoreFile('mover', file)
      expect(restored).toEqual({
        id: file.session_id,
        agent: 'mover',
        messages: 4,
        restored: 4,
        present: 0,
        erased: 0,
        threads: [thread],
      })
      expect(await shown(other, thread)).toEqual(before)
      const again = await Promise.all([1, 2].map(() => other.snapshots.restoreFile('mover', file)))
      expect(again).toMatchObject([
        { restored: 0, present: 4 },
        { restored: 0, present: 4 },
      ])
      expect((await other.threads.get(thread)).messages).toBe(4)
      await other.agents.clear('mover')
      expect(await other.snapshots.restoreFile('mover', file)).toMatchObject({ restored: 4, present: 0 })
      expect(await shown(other, thread)).toEqual(before)
    })

    test('by several callers at once, for the first time, makes its messages once, in their order', async () => {
      const thread = '018f0000-0000-7000-8000-0000000000aa'
      const other = pipeline.clientOf(`at once ${count}`)
      const first = fileOf({ session: '018f0000-0000-7000-8000-0000000000a1', thread, from: 0, length: 450 })
      // Of another snapshot, which has some of the same messages.
      const second = fileOf({ session: '018f0000-0000-7000-8000-0000000000a2', thread, from: 350, length: 150 })
      const files = [first, second, first, second, first]
      const restored = await Promise.all(files.map((file) => other.snapshots.restoreFile('mover', file)))
      for (const [index, { restored: made, present, erased }] of restored.entries()) {
        expect([made + present, erased]).toEqual([files[index]?.message_count, 0])
      }
      const contents = await contentsOf(other, `session-${thread}`)
      expect(contents.toSorted()).toEqual(Array.from({ length: 500 }, (_, index) => numbered(index)).toSorted())
      // Those of both files are where one of them has them.
      const ofFirst = contents.filter((content) => content < numbered(350))
      const ofSecond = contents.filter((content) => content >= numbered(450))
      expect(ofFirst).toEqual(ofFirst.toSorted())
      expect(ofSecond).toEqual(ofSecond.toSorted())
      const again = await Promise.all(files.map((file) => other.snapshots.restoreFile('mover', file)))
      expect(again.map((each) => each.restored)).toEqual([0, 0, 0, 0, 0])
      expect(await contentsOf(other, `session-${thread}`)).toEqual(contents)
    })

    test('that is stored is a restore of the stored one', async () => {
      const names = freshNames()
      const file = await saved(names)
      const before = await shown(client, names.thread)
      await client.agents.clear(names.agent)
      expect(await client.snapshots.restoreFile(names.agent, file)).toMatchObject({
        restored: 4,
        threads: [names.thread],
      })
      expect(await shown(client, names.thread)).toEqual(before)
    })

    test('whose snapshot is gone uses the threads that the agent still has, without what was erased in them', async () => {
      const names = freshNames()
      const gone = { ...names, thread: `${names.thread} gone` }
      await client.messages.append({ ...gone, messages: [say('the secret canary')] })
      const file = { ...(await saved(names)), session_id: '018f0000-0000-7000-8000-00000000f11e' }
      const last = file.messages.at(-1)?.id ?? ''
      await client.messages.erase({ thread: names.thread, messageId: last })
      await client.threads.delete(gone.thread)
      await client.agents.clear(names.agent)
      expect(await client.snapshots.restoreFile(names.agent, file)).toMatchObject({
        messages: 5,
        restored: 3,
        present: 0,
        erased: 2,
        threads: [names.thread],
      })
      // Neither as a thread of another agent of the project.
      expect(await client.snapshots.restoreFile(`${names.agent} b`, file)).toMatchObject({ restored: 3, erased: 2 })
      await expect(client.snapshots.restoreFile(`${names.agent} c`, file)).rejects.toMatchObject({
        code: 'CONFLICT',
        field: 'agent',
      })
      const copied = await client.messages.list({ thread: `session-${file.messages.at(-1)?.thread_id}` })
      expect(JSON.stringify(copied)).not.toMatch(/there are two|canary/)
      const context = JSON.stringify(await shown(client, names.thread))
      expect(context).toContain('list them')
      expect(context).not.toMatch(/there are two|canary/)
    })

    test('that is cut or misses fields is refused with a typed error, and one of an erased agent restores nothing', async () => {
      const names = freshNames()
      const file = await saved(names)
      const cut = { ...file, messages: file.messages.slice(1) }
      const elsewhere = pipeline.clientOf(`refusing ${count}`)
      await expect(elsewhere.snapshots.restoreFile('mover', cut)).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        field: 'file.message_count',
      })
      const { messages, ...headless } = file
      await expect(elsewhere.snapshots.restoreFile('mover', headless as SnapshotFile)).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        field: 'messages',
        received: 'nothing',
      })
      await expect(elsewhere.snapshots.restoreFile('', { ...headless, messages })).rejects.toMatchObject({
        field: 'agent',
      })
      await client.agents.delete(names.agent)
      expect(await client.snapshots.restoreFile(names.agent, file)).toMatchObject({
        restored: 0,
        erased: 4,
        threads: [],
      })
    })
  })
})
