import { tmpdir } from 'node:os'
import type { Client, NewMessage } from '@heddle/client/interface'
import { createClient } from '@heddle/engine'
import { startStages } from '@heddle/host'
import { openQueues } from '@heddle/queue'
import { createLogger, loadConfig, systemClock } from '@heddle/runtime'
import { openStore } from '@heddle/store'
import { freshPrefix } from '@heddle/test-support'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { allStages, openPipeline, type Pipeline, queueBackends } from '../support.js'

const HOUR_MS = 3_600_000
const agoMs = (ms: number) => new Date(Date.now() - ms).toISOString()

let names = 0
/** A new agent and thread, so that tests share only a pipeline. */
const freshNames = () => ({ agent: `agent ${++names}`, thread: `thread ${names}` })

const say = (content: string, fields: Partial<NewMessage> = {}): NewMessage => ({ role: 'user', content, ...fields })

async function shown(client: Client, thread: string): Promise<unknown[]> {
  const { messages } = await client.contexts.build({ thread, message: 'next' })
  return messages.slice(0, -1).map(({ content }) => content)
}

describe.each(queueBackends())('windows on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('through the workers', () => {
    let pipeline: Pipeline
    let client: Client

    beforeAll(async () => {
      pipeline = await openPipeline(mode)
      await pipeline.start(['ingest', 'prune', 'summarize', 'assemble'])
      client = pipeline.client
    })
    afterAll(() => pipeline?.close())

    describe('a message', () => {
      test('is stored with every field, its agent, its thread and its time, and read back unchanged', async () => {
        const names = freshNames()
        const call = { id: 'call-1', name: 'Read', arguments: { file_path: '/a.ts' } }
        const sentAt = agoMs(HOUR_MS)
        const messages = [
          say('look', { sourceId: 'chat-81723', sentAt, metadata: { channel: 'general' } }),
          say('', { role: 'tool_use', toolCalls: [call], model: 'claude-sonnet-4-5', usage: { input_tokens: 7 } }),
          say('nothing there', { role: 'tool_result', toolCallId: 'call-1', toolName: 'Read', isError: true }),
          say('it is empty', { role: 'assistant', pinned: true }),
          say('stopped', { role: 'error' }),
        ]
        await client.messages.append({ ...names, messages })
        const { items, nextCursor } = await client.messages.list({ thread: names.thread })
        expect(nextCursor).toBeNull()
        expect(items).toMatchObject(messages.map((message, at) => ({ ...names, ...message, seq: at + 1 })))
        expect(items[0]).toMatchObject({ sentAt, orderedAt: sentAt, receivedAt: expect.stringMatching(/Z$/) })
        expect(items.map(({ inWindow }) => inWindow)).toEqual([true, true, true, true, false])
        // The message id of a chat is stored because replies are routed by it.
        expect(items.find(({ sourceId }) => sourceId === 'chat-81723')?.thread).toBe(names.thread)
        expect(items.every(({ reference }) => /^msg-/.test(reference))).toBe(true)
      })

      test('is found only under its agent', async () => {
        const [one, other] = [freshNames(), freshNames()]
        await client.messages.append({ ...one, messages: [say('mine')] })
        await client.messages.append({ ...one, thread: `${one.thread} b`, messages: [say('mine too')] })
        await client.messages.append({ ...other, messages: [say('theirs')] })
        const found = async (agent: string) => {
          const { items } = await client.threads.list({ agent })
          const pages = await Promise.all(items.map(({ name }) => client.messages.list({ thread: name })))
          return pages.flatMap((page) => page.items.map(({ content, agent: owner }) => [content, owner]))
        }
        expect(await found(one.agent)).toEqual([
          ['mine', one.agent],
          ['mine too', one.agent],
        ])
        expect(await found(other.agent)).toEqual([['theirs', other.agent]])
      })
    })

    describe('the rolling window', () => {
      const spread = () => [
        say('two days old', { sentAt: agoMs(48 * HOUR_MS) }),
        say('25 hours old', { sentAt: agoMs(25 * HOUR_MS) }),
        say('23 hours old', { sentAt: agoMs(23 * HOUR_MS) }),
        say('new', { sentAt: agoMs(0) }),
      ]

      test('shows only messages younger than a day, unless the agent sets another window', async () => {
        const names = freshNames()
        await client.messages.append({ ...names, messages: spread() })
        expect(await shown(client, names.thread)).toEqual(['23 hours old', 'new'])
        const { receipt } = await client.contexts.build({ thread: names.thread })
        expect(receipt).toMatchObject({ eligible: 2, imported: 4 })
      })

      test('has the length set on the agent or on the thread', async () => {
        const names = freshNames()
        await client.messages.append({ ...names, messages: spread() })
        await client.agents.put(names.agent, { settings: { rollingWindow: 30 * 3_600 } })
        expect(await shown(client, names.thread)).toEqual(['25 hours old', '23 hours old', 'new'])
        await client.agents.put(names.agent, { settings: { rollingWindow: null } })
        expect(await shown(client, names.thread)).toHaveLength(4)
        await client.threads.put(names.thread, { agent: names.agent, settings: { rollingWindow: 3_600 } })
        expect(await shown(client, names.thread)).toEqual(['new'])
      })

      test('hides no message from the history, which is read page by page from either end', async () => {
        const names = freshNames()
        await client.messages.append({ ...names, messages: spread() })
        const read = async (order: 'asc' | 'desc') => {
          const items = []
          let after: string | null = null
          do {
            const page = await client.messages.list({
              thread: names.thread,
              order,
              limit: 3,
              ...(after !== null && { after }),
            })
            items.push(...page.items)
            after = page.nextCursor
          } while (after !== null)
          return items
        }
        const contents = spread().map(({ content }) => content)
        const items = await read('asc')
        expect(items.map(({ content }) => content)).toEqual(contents)
        expect(items.map(({ inWindow }) => inWindow)).toEqual([false, false, true, true])
        expect((await read('desc')).map(({ content }) => content)).toEqual(contents.reverse())
      })

      test('shows a message with a clock far ahead at its place of arrival, and one with a clock far behind only in the history', async () => {
        const names = freshNames()
        await client.messages.append({ ...names, messages: [say('ahead', { sentAt: '2999-01-01T00:00:00Z' })] })
        await client.messages.append({ ...names, messages: [say('behind', { sentAt: '1999-01-01T00:00:00Z' })] })
        expect(await shown(client, names.thread)).toEqual(['ahead'])
        const { items } = await client.messages.list({ thread: names.thread })
        expect(items.map(({ content, sentAt }) => [content, sentAt])).toEqual([
          ['behind', '1999-01-01T00:00:00.000Z'],
          ['ahead', '2999-01-01T00:00:00.000Z'],
        ])
        expect(Date.parse(items[1]?.orderedAt ?? '')).toBeLessThanOrEqual(
          Date.parse(items[1]?.receivedAt ?? '') + 5_000,
        )
      })
    })

    describe('a clear', () => {
      test('of an agent hides the messages of all its threads, and deletes nothing', async () => {
        const [names, other] = [freshNames(), freshNames()]
        const second = `${names.thread} b`
        await client.messages.append({ ...names, messages: [say('before')] })
        await client.messages.append({ ...names, thread: second, messages: [say('before, elsewhere')] })
        await client.messages.append({ ...other, messages: [say('of another agent')] })
        const before = Date.now()
        const cleared = await client.agents.clear(names.agent)
        expect(cleared).toMatchObject({ agent: names.agent, epoch: 1, threads: 2 })
        expect(Math.abs(Date.parse(cleared.clearedAt) - before)).toBeLessThan(5_000)
        expect((await client.agents.get(names.agent)).lastClearedAt).toBe(cleared.clearedAt)
        expect(await shown(client, names.thread)).toEqual([])
        expect(await shown(client, second)).toEqual([])
        expect(await shown(client, other.thread)).toEqual(['of another agent'])
        const { items } = await client.messages.list({ thread: names.thread })
        expect(items).toMatchObject([{ content: 'before', inWindow: false }])
      })

      test('shows messages that arrive after it, in old and new threads; the latest of several clears counts', async () => {
        const names = freshNames()
        await client.messages.append({ ...names, messages: [say('first')] })
        await client.agents.clear(names.agent)
        await client.messages.append({ ...names, messages: [say('second')] })
        expect(await shown(client, names.thread)).toEqual(['second'])
        const latest = await client.agents.clear(names.agent)
        // A clear with an earlier time is a clear all the same: it hides the messages stored before its arrival.
        await client.messages.append({ ...names, messages: [say('third')] })
        const older = await client.agents.clear(names.agent, { clearedAt: '2020-01-01T00:00:00Z' })
        expect(older).toMatchObject({ epoch: 3, clearedAt: latest.clearedAt })
        await client.messages.append({ ...names, messages: [say('fourth')] })
        const fresh = `${names.thread} begun later`
        await client.messages.append({ ...names, thread: fresh, messages: [say('fifth')] })
        expect(await shown(client, names.thread)).toEqual(['fourth'])
        expect(await shown(client, fresh)).toEqual(['fifth'])
        const { items } = await client.messages.list({ thread: names.thread })
        expect(items.map(({ content, inWindow }) => [content, inWindow])).toEqual([
          ['first', false],
          ['second', false],
          ['third', false],
          ['fourth', true],
        ])
      })

      test('and the rolling window: the later of the two limits the messages shown', async () => {
        const names = freshNames()
        await client.agents.put(names.agent, { settings: { rollingWindow: 2 * 3_600 } })
        await client.messages.append({ ...names, messages: [say('old', { sentAt: agoMs(3 * HOUR_MS) })] })
        await client.agents.clear(names.agent, { clearedAt: agoMs(4 * HOUR_MS) })
        const late = [
          say('after the clear, out of the window', { sentAt: agoMs(3 * HOUR_MS) }),
          say('in', { sentAt: agoMs(HOUR_MS) }),
        ]
        await client.messages.append({ ...names, messages: late })
        expect(await shown(client, names.thread)).toEqual(['in'])
        await client.agents.clear(names.agent, { clearedAt: agoMs(HOUR_MS / 2) })
        await client.messages.append({
          ...names,
          messages: [
            say('in the window, sent before the clear', { sentAt: agoMs(HOUR_MS) }),
            say('last', { sentAt: agoMs(HOUR_MS / 4) }),
          ],
        })
        expect(await shown(client, names.thread)).toEqual(['last'])
      })

      test('from a clock that is years ahead hides no message that arrives after it', async () => {
        const names = freshNames()
        await client.messages.append({ ...names, messages: [say('before')] })
        const cleared = await client.agents.clear(names.agent, { clearedAt: '2999-01-01T00:00:00Z' })
        expect(Date.parse(cleared.clearedAt)).toBeLessThanOrEqual(Date.now() + 5_000)
        await client.messages.append({ ...names, messages: [say('after')] })
        expect(await shown(client, names.thread)).toEqual(['after'])
      })

      test('without an agent is refused', async () => {
        await expect(client.agents.clear('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'agent' })
        const notATime = client.agents.clear('nobody', { clearedAt: 'yesterday' })
        await expect(notATime).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'clearedAt' })
      })
    })

    describe('a context', () => {
      test('has the system prompt, the docs, the window, the current activity, and the new message', async () => {
        const names = freshNames()
        const other = `${names.thread} beside it`
        await client.agents.put(names.agent, {
          systemPrompt: 'You weave.',
          docs: [{ name: 'loom', text: 'The loom is wide.' }],
        })
        await client.messages.append({ ...names, messages: [say('begin'), say('begun', { role: 'assistant' })] })
        await client.threads.put(names.thread, { agent: names.agent, goal: 'a cloth', status: 'weaving' })
        await client.processes.put(names.thread, 'dyeing', { status: 'half done' })
        await client.threads.put(other, { agent: names.agent, title: 'Yarn', status: 'spinning' })
        await client.threads.put(`${names.thread} at rest`, { agent: names.agent, title: 'At rest' })

        const context = await client.contexts.build({ thread: names.thread, message: 'go on', format: 'openai-chat' })
        expect(context.messages).toEqual([
          { role: 'system', content: 'You weave.' },
          { role: 'user', content: 'Document "loom":\n\nThe loom is wide.' },
          { role: 'user', content: 'begin' },
          { role: 'assistant', content: 'begun' },
          {
            role: 'user',
            content: `[Status of thread "${names.thread}"]\nGoal: a cloth\nStatus: weaving\nRunning: dyeing | half done`,
          },
          {
            role: 'user',
            content: `[Other threads of agent "${names.agent}" at work]\n- "${other}": Yarn | Status: spinning`,
          },
          { role: 'user', content: 'go on' },
        ])
        const sections = context.receipt.sections.map(({ name, count }) => [name, count])
        expect(sections).toEqual([
          ['system-prompt', 1],
          ['docs', 1],
          ['history', 2],
          ['status', 2],
          ['message', 1],
        ])
        expect(await client.contexts.build({ thread: other, message: 'go on' })).toMatchObject({
          messages: [
            {},
            {},
            { content: `[Status of thread "${other}"]\nTitle: Yarn\nStatus: spinning` },
            { content: expect.stringContaining(`- "${names.thread}": Goal: a cloth | Status: weaving`) },
            { content: 'go on' },
          ],
        })
      })

      test('no longer lists ended activity, and stays the same while nothing changes', async () => {
        const names = freshNames()
        await client.messages.append({ ...names, messages: [say('begin')] })
        await client.processes.put(names.thread, 'dyeing', { status: 'half done' })
        const [first, second] = [await shown(client, names.thread), await shown(client, names.thread)]
        expect(first).toEqual(['begin', expect.stringContaining('Running: dyeing | half done')])
        expect(second).toEqual(first)
        await client.processes.put(names.thread, 'dyeing', { ended: true })
        expect(await shown(client, names.thread)).toEqual(['begin'])
        const { items } = await client.processes.list(names.thread)
        expect(items).toMatchObject([{ name: 'dyeing', version: 2, status: 'half done', isRunning: false }])
      })
    })

    test('iterations are recorded in a thread that they create, and give the state of its run', async () => {
      const names = freshNames()
      const iterations = [
        { id: '018f0000-0000-7000-8000-0000000000a1', prompt: 'fix', output: 'x'.repeat(20_000), cliUsed: 'codex' },
        { id: '018f0000-0000-7000-8000-0000000000a2', prompt: 'go on', output: '', progressScore: 0.5 },
      ]
      expect(await client.iterations.append({ ...names, iterations })).toMatchObject({
        stored: 2,
        iterationNumbers: [1, 2],
      })
      expect(await client.iterations.append({ ...names, iterations })).toMatchObject({ stored: 0, repeated: 2 })
      await client.threads.put(names.thread, {
        agent: names.agent,
        goal: 'green tests',
        loop: { startTime: '2026-02-12T14:30:00Z', currentModel: 'gpt-5-mini', envSnapshot: { CI: '1' } },
      })
      const page = await client.iterations.list(names.thread, { limit: 1 })
      expect(page).toMatchObject({ items: [{ iterationNumber: 1, output: 'x'.repeat(20_000) }], nextCursor: '1' })
      expect(await client.iterations.list(names.thread, { cursor: '1' })).toMatchObject({
        items: [{ iterationNumber: 2, output: '' }],
        nextCursor: null,
      })
      expect(await client.iterations.loop(names.thread)).toEqual({
        goal: 'green tests',
        iterations: [
          expect.objectContaining({ iterationNumber: 1, output: 'x'.repeat(5_000) }),
          expect.objectContaining({ iterationNumber: 2, output: '' }),
        ],
        summary: null,
        totalIterations: 2,
        turns: { taken: 2, max: null },
        startTime: '2026-02-12T14:30:00Z',
        currentCli: 'codex',
        currentModel: 'gpt-5-mini',
        envSnapshot: { CI: '1' },
        fileEvents: [],
      })
    })
  })

  test.skipIf(skip)('messages, windows, clears and statuses survive a restart of everything', async () => {
    const before = await openPipeline(mode)
    onTestFinished(() => before.close())
    const running = await before.start()
    const names = freshNames()
    await before.client.agents.put(names.agent, { systemPrompt: 'You weave.', settings: { rollingWindow: 7_200 } })
    await before.client.messages.append({ ...names, messages: [say('cleared')] })
    const { clearedAt } = await before.client.agents.clear(names.agent)
    const kept = [
      say('too old', { sentAt: agoMs(3 * HOUR_MS) }),
      say('kept', { sentAt: agoMs(0) }),
      say('too', { role: 'assistant' }),
    ]
    await before.client.messages.append({ ...names, messages: kept })
    await before.client.threads.put(names.thread, { agent: names.agent, status: 'weaving' })
    const expected = await before.client.contexts.build({ thread: names.thread, message: 'next' })
    await running.stop()
    await before.store.close()

    const log = createLogger({ level: 'fatal', name: 'test' })
    const store = openStore({ url: before.databaseUrl })
    const queues = await openQueues({ backend: before.queueBackend, prefix: freshPrefix(), log, create: true })
    const config = {
      ...loadConfig({ env: { HEDDLE_EMBEDDER: 'hashing' }, cwd: tmpdir() }),
      settings: {},
      project: 'tests',
    }
    const stages = await startStages({
      store,
      queues,
      config,
      log,
      clock: systemClock,
      stages: allStages,
      reconcile: false,
    })
    onTestFinished(async () => {
      await stages.stop()
      await queues.destroy()
      await store.close()
    })
    const client = createClient({ store, queues, project: 'tests', log })
    const { messages, system } = await client.contexts.build({ thread: names.thread, message: 'next' })
    expect({ messages, system }).toEqual({ messages: expected.messages, system: expected.system })
    expect(messages.map(({ content }) => content)).toEqual([
      'You weave.',
      'kept',
      'too',
      `[Status of thread "${names.thread}"]\nStatus: weaving`,
      'next',
    ])
    expect((await client.agents.get(names.agent)).lastClearedAt).toBe(clearedAt)
    expect((await client.messages.list({ thread: names.thread })).items).toHaveLength(4)
  })
})
