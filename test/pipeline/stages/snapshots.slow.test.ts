import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client, NewMessage } from '@heddle/client/interface'
import { type SnapshotFile, sentencesFault } from '@heddle/core'
import type { Summarizer } from '@heddle/models'
import { sweepSnapshotFiles } from '@heddle/store'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'

const WORDS = 'Nothing is left to do'

const says: Summarizer = {
  name: 'says',
  async summarize({ purpose, messages }) {
    answers++
    if (messages.some(({ text }) => text.includes('the model is curt'))) return 'They spoke.'
    if (messages.some(({ text }) => text.includes('the model is away'))) throw new Error('no connection')
    if (messages.some(({ text }) => text.includes('the model rambles'))) return 'They talked on and on. '.repeat(60)
    return `${purpose} of ${messages.length} messages. ${WORDS}.`
  },
}

let answers = 0
let count = 0
const freshNames = () => ({ agent: `agent ${++count}`, thread: `thread ${count}` })
const say = (content: string, fields: Partial<NewMessage> = {}): NewMessage => ({ role: 'user', content, ...fields })

async function shown(client: Client, thread: string): Promise<unknown[]> {
  const { messages } = await client.contexts.build({ thread, message: 'next', budget: 1_000_000 })
  return messages.slice(0, -1).map(({ role, content }) => [role, content])
}

/** Names below the folder, without those of the folders, which contain ids. */
async function filesOf({ snapshotsFolder }: Pipeline): Promise<string[]> {
  const names = await readdir(snapshotsFolder, { recursive: true, withFileTypes: true }).catch(() => [])
  return names.flatMap((name) => (name.isFile() ? [join(name.parentPath, name.name)] : [])).sort()
}

const readSnapshotFile = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as SnapshotFile

describe.each(queueBackends())('snapshots on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('through the workers', () => {
    let pipeline: Pipeline
    let client: Client
    beforeAll(async () => {
      pipeline = await openPipeline(mode, { rollingWindow: null })
      await pipeline.start(['ingest', 'prune', 'summarize', 'assemble'], { summarizer: says })
      client = pipeline.client
    })
    afterAll(() => pipeline?.close())

    const append = (names: { agent: string; thread: string }, messages: readonly NewMessage[]) =>
      client.messages.append({ ...names, messages })
    const fileOf = async (name: string) => {
      const path = (await filesOf(pipeline)).find((each) => each.endsWith(name))
      return path === undefined ? null : await readSnapshotFile(path)
    }

    test('saving writes a file and a row for all threads, and clears nothing', async () => {
      const names = freshNames()
      const other = { ...names, thread: `${names.thread} b` }
      const call = { id: 'c1', name: 'Read', arguments: { file_path: '/a.ts' } }
      await append(names, [
        say('look'),
        say('', {
          role: 'assistant',
          toolCalls: [call],
          model: 'gpt-5-mini',
          thinking: [{ text: 'hm', signature: 's' }],
        }),
        say('nothing', { role: 'tool_result', toolCallId: 'c1', toolName: 'Read', isError: true }),
        say('not sent', { role: 'error' }),
      ])
      await append(other, [say('elsewhere', { pinned: true, sourceId: 'chat-1', metadata: { channel: 'x' } })])
      const before = await shown(client, names.thread)
      const saved = await client.snapshots.save({ agent: names.agent, description: 'Wörking on ../../auth refactor!' })
      expect(saved).toMatchObject({
        agent: names.agent,
        description: 'Wörking on ../../auth refactor!',
        summary: `snapshot of 4 messages. ${WORDS}.`,
        summaryError: null,
        messageCount: 4,
        threadCount: 2,
        windowStart: null,
        store: 'files',
      })
      const shortId = saved.id.replaceAll('-', '').slice(-8)
      expect(saved.fileName).toMatch(
        new RegExp(`^\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\dZ_working-on-auth-refactor_${shortId}\\.json$`),
      )
      const file = await fileOf(saved.fileName)
      expect(file).toEqual(await client.snapshots.get(saved.id))
      expect(file).toMatchObject({
        session_id: saved.id,
        timestamp: saved.timestamp,
        description: saved.description,
        summary: saved.summary,
        message_count: 4,
        window_start: null,
        window_end: saved.windowEnd,
      })
      expect(file?.messages.map(({ role, content }) => [role, content])).toEqual([
        ['user', 'look'],
        ['assistant', ''],
        ['tool_result', 'nothing'],
        ['user', 'elsewhere'],
      ])
      expect(file?.messages[1]).toMatchObject({ tool_calls: [call], timestamp: expect.stringMatching(/Z$/) })
      expect(await shown(client, names.thread)).toEqual(before)
    })

    test('a cleared window is restored unchanged, and each message says when it was restored', async () => {
      const names = freshNames()
      const call = { id: 'c1', name: 'Bash', arguments: { command: 'ls' } }
      await append(names, [
        say('list them'),
        say('', { role: 'assistant', toolCalls: [call] }),
        say('a b', { role: 'tool_result', toolCallId: 'c1' }),
        say('there are two', { role: 'assistant' }),
      ])
      const before = await shown(client, names.thread)
      const saved = await client.snapshots.save({ agent: names.agent })
      await client.agents.clear(names.agent)
      await append(names, [say('since then')])
      const restored = await client.snapshots.restore(saved.id)
      expect(restored).toMatchObject({ messages: 4, restored: 4, present: 0, threads: [names.thread] })
      expect(await shown(client, names.thread)).toEqual([['user', 'since then'], ...before])
      const { items } = await client.messages.list({ thread: names.thread })
      expect(items).toHaveLength(5)
      for (const [index, { restored, orderedAt, inWindow }] of items.entries()) {
        expect(inWindow).toBe(true)
        if (index === 4) expect(restored).toBeUndefined()
        else expect(restored).toEqual({ snapshot: saved.id, at: expect.stringMatching(/Z$/) })
        if (restored !== undefined) expect(restored.at > orderedAt).toBe(true)
      }
    })

    test('a second restore, and one beside the originals, adds nothing; one after another clear restores the messages', async () => {
      const names = freshNames()
      await append(names, [say('one'), say('two', { role: 'assistant' })])
      const before = await shown(client, names.thread)
      const { id } = await client.snapshots.save({ agent: names.agent })
      expect(await client.snapshots.restore(id)).toMatchObject({ restored: 0, present: 2 })
      expect(await shown(client, names.thread)).toEqual(before)
      for (let round = 1; round <= 2; round++) {
        await client.agents.clear(names.agent)
        const [first, second] = await Promise.all([client.snapshots.restore(id), client.snapshots.restore(id)])
        expect(first.restored + second.restored).toBe(2)
        expect(await client.snapshots.restore(id)).toMatchObject({ restored: 0, present: 2 })
        expect(await shown(client, names.thread)).toEqual(before)
        expect((await client.threads.get(names.thread)).messages).toBe(2)
      }
    })

    test('a snapshot of restored messages restores their originals, once', async () => {
      const names = freshNames()
      await append(names, [say('one'), say('two')])
      const first = await client.snapshots.save({ agent: names.agent })
      await client.agents.clear(names.agent)
      await client.snapshots.restore(first.id)
      const second = await client.snapshots.save({ agent: names.agent })
      expect(await client.snapshots.restore(second.id)).toMatchObject({ restored: 0, present: 2 })
      await client.agents.clear(names.agent)
      expect(await client.snapshots.restore(second.id)).toMatchObject({ restored: 2 })
      expect(await client.snapshots.restore(first.id)).toMatchObject({ restored: 0, present: 2 })
      expect(await shown(client, names.thread)).toEqual([
        ['user', 'one'],
        ['user', 'two'],
      ])
    })

    test('a failing summarizer leaves a snapshot without a summary', async () => {
      const names = freshNames()
      await append(names, [say('the model is away')])
      const saved = await client.snapshots.save({ agent: names.agent })
      expect(saved).toMatchObject({ summary: '(summary generation failed)', messageCount: 1 })
      expect(saved.summaryError).toContain('no connection')
      expect((await fileOf(saved.fileName))?.summary).toBe('(summary generation failed)')
    })

    test.each([
      { shape: 'too long', text: 'the model rambles' },
      { shape: 'one sentence', text: 'the model is curt' },
    ])('a summary that is $shape is requested once more, and then made without the model', async ({ text }) => {
      const names = freshNames()
      await append(names, [say(`${text} `.repeat(20)), say('I decided to use Postgres.', { role: 'assistant' })])
      const before = answers
      const saved = await client.snapshots.save({ agent: names.agent })
      expect(answers - before).toBe(2)
      expect(saved).toMatchObject({ summaryError: null, messageCount: 2 })
      expect(saved.summary).toContain('I decided to use Postgres.')
      expect(sentencesFault(saved.summary)).toBeNull()
    })

    test('history lists the snapshots of one agent, newest first, page by page', async () => {
      const names = freshNames()
      await append(names, [say('one')])
      const ids: string[] = []
      for (const description of ['first', 'second', 'third'])
        ids.unshift((await client.snapshots.save({ agent: names.agent, description })).id)
      const { items, nextCursor } = await client.snapshots.history(names.agent, { limit: 2 })
      expect(items.map(({ description }) => description)).toEqual(['third', 'second'])
      const rest = await client.snapshots.history(names.agent, { limit: 2, cursor: nextCursor ?? '' })
      expect([...items, ...rest.items].map(({ id }) => id)).toEqual(ids)
      expect(rest.nextCursor).toBeNull()
      await append(freshNames(), [say('another')])
      expect((await client.snapshots.history(`agent ${count}`)).items).toEqual([])
    })

    test('history lists fifty snapshots if its caller names no number', async () => {
      const names = freshNames()
      await append(names, [say('one')])
      await Promise.all(Array.from({ length: 51 }, () => client.snapshots.save({ agent: names.agent })))
      const { items, nextCursor } = await client.snapshots.history(names.agent)
      expect(items).toHaveLength(50)
      const rest = await client.snapshots.history(names.agent, { cursor: nextCursor ?? '' })
      expect(rest.items).toHaveLength(1)
    })

    test('a missing agent, a missing id, an empty window and a foreign project are refused with typed errors', async () => {
      const names = freshNames()
      const unknown = '018f0000-0000-7000-8000-00000000dead'
      await expect(client.snapshots.save({ agent: 'nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(client.snapshots.history('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(client.snapshots.restore(unknown)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(client.snapshots.restore('../../etc')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
      await append(names, [say('one')])
      const { id } = await client.snapshots.save({ agent: names.agent })
      await expect(pipeline.clientOf('other').snapshots.restore(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await client.agents.clear(names.agent)
      await expect(client.snapshots.save({ agent: names.agent })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
      expect((await client.snapshots.history(names.agent)).items).toHaveLength(1)
    })

    test('with snapshots.store postgres a snapshot is a row without a file', async () => {
      const names = freshNames()
      await client.agents.put(names.agent, { settings: { snapshots: { store: 'postgres' } } })
      await append(names, [say('one')])
      const saved = await client.snapshots.save({ agent: names.agent })
      expect(saved.store).toBe('postgres')
      expect(await fileOf(saved.fileName)).toBeNull()
      expect((await client.snapshots.get(saved.id)).messages).toHaveLength(1)
    })

    test('a subscription to an agent gets each context and snapshot, and the missed ones after a disconnect', async () => {
      const names = freshNames()
      const other = freshNames()
      await append(names, [say('one')])
      await append(other, [say('of another agent')])
      const listen = async (expected: number, after?: number) => {
        const ending = new AbortController()
        const options = { agent: names.agent, signal: ending.signal, ...(after !== undefined && { after }) }
        const delivered = await client.contexts.subscribe(options)
        const seen = (async () => {
          const got: { id: string; topic: string; number: number }[] = []
          for await (const { id, event } of delivered) {
            got.push({ id, topic: event.topic, number: event.number })
            if (got.length === expected) ending.abort()
          }
          return got
        })()
        return { seen }
      }
      const { seen } = await listen(2)
      const context = await client.contexts.build({ thread: names.thread })
      await client.contexts.build({ thread: other.thread })
      const snapshot = await client.snapshots.save({ agent: names.agent })
      const first = await seen
      expect(first.map(({ id, topic }) => [topic, id])).toEqual([
        ['context.built', context.id],
        ['snapshot.saved', snapshot.id],
      ])
      // No listener is connected now.
      const missed = await client.snapshots.save({ agent: names.agent })
      await client.snapshots.save({ agent: other.agent })
      const later = await client.contexts.build({ thread: names.thread })
      const again = await listen(2, first.at(-1)?.number)
      expect((await again.seen).map(({ id }) => id).sort()).toEqual([missed.id, later.id].sort())
    })

    test('an erasure of a thread removes it from the files at once, and an erasure of an agent removes its files', async () => {
      const names = freshNames()
      const stays = { ...names, thread: `${names.thread} stays` }
      await append(names, [say('secret')])
      await append(stays, [say('open')])
      const saved = await client.snapshots.save({ agent: names.agent, description: 'both' })
      await client.threads.delete(names.thread)
      const file = await fileOf(saved.fileName)
      expect(file).toEqual(await client.snapshots.get(saved.id))
      expect(file?.messages.map(({ content }) => content)).toEqual(['open'])
      expect(JSON.stringify(file)).not.toContain('secret')
      expect(await client.snapshots.restore(saved.id)).toMatchObject({ messages: 1, present: 1, erased: 1 })
      await client.agents.delete(names.agent)
      expect(await fileOf(saved.fileName)).toBeNull()
    })

    test('the sweep removes files without a row, and keeps all others', async () => {
      const names = freshNames()
      await append(names, [say('one')])
      const saved = await client.snapshots.save({ agent: names.agent })
      const path = (await filesOf(pipeline)).find((each) => each.endsWith(saved.fileName)) ?? ''
      const stray = [path.replace(/Z_.*/, 'Z_left-over_01234567.json'), `${path}.0123456789ab.tmp`]
      for (const each of stray) await writeFile(each, '{')
      const others = (await filesOf(pipeline)).filter((each) => !stray.includes(each))
      const swept = await sweepSnapshotFiles(pipeline.store, { folder: pipeline.snapshotsFolder })
      expect(swept).toEqual({ removed: 2, rewritten: 0 })
      expect(await filesOf(pipeline)).toEqual(others)
    })

    test('each snapshot is published to its subscribers', async () => {
      const names = freshNames()
      await append(names, [say('one')])
      const ending = new AbortController()
      const events = await client.events.follow({ topics: ['snapshot.saved'], signal: ending.signal })
      const saved = await client.snapshots.save({ agent: names.agent })
      for await (const event of events) {
        expect(event).toMatchObject({ topic: 'snapshot.saved', threadId: null })
        // An event follows its snapshot: that of the previous one may come first.
        if (event.subjectId === saved.id) break
      }
      ending.abort()
    })
  })

  test.skipIf(skip)(
    'a window of 10,000 messages is restored unchanged, message by message',
    async () => {
      const pipeline = await openPipeline(mode, { rollingWindow: null })
      onTestFinished(() => pipeline.close())
      await pipeline.start(['ingest', 'assemble'], { summarizer: says })
      const { client } = pipeline
      const messages = Array.from({ length: 10_000 }, (_, index) =>
        say(`message ${index} ${'x'.repeat(index % 50)}`, { role: index % 2 === 0 ? 'user' : 'assistant' }),
      )
      await client.messages.append({ agent: 'a', thread: 't', messages, deadlineMs: 60_000 })
      const saved = await client.snapshots.save({ agent: 'a' })
      expect(saved.messageCount).toBe(10_000)
      await client.agents.clear('a')
      expect(await client.snapshots.restore(saved.id)).toMatchObject({ restored: 10_000, present: 0 })
      const again = await client.snapshots.get((await client.snapshots.save({ agent: 'a' })).id)
      expect(again.messages.map(({ role, content }) => [role, content])).toEqual(
        messages.map(({ role, content }) => [role, content]),
      )
    },
    60_000,
  )
})
