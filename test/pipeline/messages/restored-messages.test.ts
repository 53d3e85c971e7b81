import type { Client } from '@heddle/client/interface'
import type { ContextResult } from '@heddle/contracts'
import { projectIdOf, threadIdOf } from '@heddle/core'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { validateOpenAiChat } from '../../support/src/validators/index.js'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'
import { AGENT, BUDGET, openTenant, session, THREAD } from '../tenant.js'

const contents = async (client: Client, thread: string) =>
  (await client.messages.list({ thread })).items.map(({ content }) => content)
const shownBy = ({ messages }: ContextResult) => messages.map(({ role, content }) => [role, content])

describe.each(queueBackends())('restored messages on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('are stored once', () => {
    let pipeline: Pipeline
    beforeAll(async () => {
      pipeline = await openPipeline(mode)
      await pipeline.start()
    })
    afterAll(() => pipeline?.close())

    async function settledClient(project: string, thread = 'login'): Promise<Client> {
      const client = pipeline.clientOf(project)
      await client.agents.put('coder', { settings: { rollingWindow: null } })
      await client.messages.append({
        agent: 'coder',
        thread,
        messages: [
          { role: 'user', content: 'The pelican service listens on port qqport4711.' },
          { role: 'assistant', content: 'Then I will call the pelican there.' },
        ],
      })
      await client.threads.waitUntilSettled(thread)
      return client
    }

    test('so that three rounds of clear and restore leave two messages, two search hits and two counted messages', async () => {
      const client = await settledClient('rounds')
      const before = await client.contexts.build({ thread: 'login', message: 'next' })
      const counted = await client.threads.get('login')
      const { id } = await client.snapshots.save({ agent: 'coder' })
      for (let round = 1; round <= 3; round++) {
        await client.agents.clear('coder')
        expect((await client.messages.list({ thread: 'login' })).items.map(({ inWindow }) => inWindow)).toEqual([
          false,
          false,
        ])
        expect(await client.snapshots.restore(id)).toMatchObject({ restored: 2, present: 0, erased: 0 })
        expect(await client.snapshots.restore(id)).toMatchObject({ restored: 0, present: 2, erased: 0 })
        await client.threads.waitUntilSettled('login')
      }
      const { items } = await client.messages.list({ thread: 'login' })
      expect(items.map(({ inWindow, restored }) => [inWindow, restored?.snapshot])).toEqual([
        [true, id],
        [true, id],
      ])
      const found = await client.search({ query: 'pelican', agent: 'coder' })
      expect(found.items.map(({ messageId }) => messageId).sort()).toEqual(items.map((item) => item.id).sort())
      const { messages, tokens, byRole, eligible, imported } = await client.threads.get('login')
      expect({ messages, tokens, byRole, imported }).toEqual({
        messages: 2,
        tokens: counted.tokens,
        byRole: counted.byRole,
        imported: 2,
      })
      expect(eligible).toBe(2)
      expect((await client.threads.list()).items[0]).toMatchObject({ messages: 2, tokensEstimate: counted.tokens })
      expect((await client.agents.list()).items[0]).toMatchObject({ messages: 2 })
      const after = await client.contexts.build({ thread: 'login', message: 'next' })
      expect(shownBy(after)).toEqual(shownBy(before))
      expect(after.receipt).toMatchObject({ eligible: 2, imported: 2 })
      const named = after.receipt.entries.flatMap(({ messageId }) => messageId ?? [])
      expect(named).toEqual(items.map((item) => item.id))
      expect(await client.contexts.get(after.id, { rebuild: true })).toEqual(after)
    })

    test('and shown once in a window that also holds their first places', async () => {
      const client = await settledClient('wider')
      const longAgo = new Date(Date.now() - 7_200_000).toISOString()
      const sent = [{ role: 'user' as const, content: 'What was said two hours ago.', sentAt: longAgo }]
      await client.messages.append({ agent: 'coder', thread: 'login', messages: sent })
      await client.threads.waitUntilSettled('login')
      const { id } = await client.snapshots.save({ agent: 'coder' })
      await client.agents.put('coder', { settings: { rollingWindow: 3_600 } })
      expect(await client.snapshots.restore(id)).toMatchObject({ messages: 3, restored: 1, present: 2 })
      await client.threads.waitUntilSettled('login')
      expect(await client.threads.get('login')).toMatchObject({ eligible: 3, imported: 3, warnings: [] })
      for (const rollingWindow of [null, 3_600]) {
        const { messages, receipt } = await client.contexts.build({ thread: 'login', rollingWindow })
        expect(messages.map(({ content }) => content)).toEqual([
          'The pelican service listens on port qqport4711.',
          'Then I will call the pelican there.',
          'What was said two hours ago.',
        ])
        expect(receipt).toMatchObject({ eligible: 3, imported: 3 })
        expect(receipt.entries.reduce((sum, { count }) => sum + count, 0)).toBe(3)
      }
    })

    test('and recalled once by another thread, unlike messages that are only cleared', async () => {
      const client = await settledClient('recalling')
      const { id } = await client.snapshots.save({ agent: 'coder' })
      await client.agents.clear('coder')
      await client.messages.append({
        agent: 'coder',
        thread: 'now',
        messages: [{ role: 'user', content: 'Let us go on.' }],
      })
      const recalled = async () => {
        const message = 'On which port does the pelican service listen?'
        const { receipt } = await client.contexts.build({ thread: 'now', message, memories: { minScore: 0 } })
        return receipt.entries.flatMap(({ memory, mode }) => (mode !== 'left-out' && memory ? [memory.messageId] : []))
      }
      await client.threads.waitUntilSettled('now')
      expect(await recalled()).toEqual([])
      await client.snapshots.restore(id)
      await client.threads.waitUntilSettled('login')
      const [first] = (await client.messages.list({ thread: 'login' })).items
      expect((await recalled()).filter((messageId) => messageId === first?.id)).toHaveLength(1)
      const own = await client.contexts.build({ thread: 'login', message: 'the pelican port?', memories: true })
      expect(own.receipt.entries.filter(({ memory, mode }) => memory !== undefined && mode !== 'left-out')).toEqual([])
    })

    test('and, in a compacted thread, condensed, archived once, recalled to the byte and undone by their first id', async () => {
      const tenant = await openTenant(pipeline, 'compacted')
      const { client } = tenant
      const placed = session('restored', 60)
      await tenant.send(placed)
      await tenant.whenSettled(placed.length)
      const archived = (await client.archive.list({ agent: AGENT, thread: THREAD, limit: 200 })).items.length
      expect(archived).toBeGreaterThan(0)
      const { id } = await client.snapshots.save({ agent: AGENT })
      await client.agents.clear(AGENT)
      expect(await client.snapshots.restore(id)).toMatchObject({ restored: placed.length })
      await tenant.whenSettled(placed.length)
      const built = await client.contexts.build({ thread: THREAD, format: 'openai-chat' })
      expect(built.tokensUsed).toBeLessThanOrEqual(BUDGET)
      expect(validateOpenAiChat(built.messages as never)).toEqual([])
      expect(built.receipt.entries.reduce((sum, { count }) => sum + count, 0)).toBe(placed.length)
      expect((await client.archive.list({ agent: AGENT, thread: THREAD, limit: 200 })).items.length).toBe(archived)

      const condensed = built.receipt.entries.filter(({ mode, reference }) => mode === 'condensed' && reference)
      expect(condensed.length).toBeGreaterThan(0)
      for (const { reference = '', messageId } of condensed) {
        const original = placed.find(({ message }) => message.id === messageId)
        expect(original).toBeDefined()
        const recalled = await client.recall({ ref: reference, thread: THREAD, maxTokens: 8_000 })
        expect(recalled).toMatchObject({ messageId, content: original?.message.content })
      }
      const covered = placed.find(
        ({ message }, index) =>
          index > 40 && message.role === 'tool_result' && !JSON.stringify(built).includes(message.id),
      )
      const chosen = covered?.message.id ?? ''
      expect(await client.contexts.uncompact({ thread: THREAD, messageId: chosen })).toMatchObject({ messages: 1 })
      const next = await client.contexts.build({ thread: THREAD, format: 'openai-chat' })
      expect(next.receipt.entries.find(({ messageId }) => messageId === chosen)).toMatchObject({ mode: 'raw' })
      expect(await client.contexts.get(next.id, { rebuild: true })).toEqual(next)
    })

    test('and stay restored when their thread is exported and imported under another name', async () => {
      const client = await settledClient('moving')
      const { id } = await client.snapshots.save({ agent: 'coder' })
      await client.agents.clear('coder')
      await client.snapshots.restore(id)
      await client.threads.waitUntilSettled('login')
      const lines: string[] = []
      for await (const line of client.threads.export('login')) lines.push(line.trimEnd())
      async function* read() {
        yield* lines
      }
      const other = pipeline.clientOf('moved')
      await other.threads.import(read, { as: 'login' })
      const projectId = projectIdOf('moved')
      const wake = { projectId, threadId: threadIdOf(projectId, 'login') }
      await Promise.all((['prune', 'embed'] as const).map((stage) => pipeline.queues.wake(stage, wake)))
      await other.threads.waitUntilSettled('login')
      expect(await contents(other, 'login')).toEqual(await contents(client, 'login'))
      expect(await other.threads.get('login')).toMatchObject({ messages: 2 })
      expect((await other.search({ query: 'pelican' })).items).toHaveLength(2)
      const [here, there] = await Promise.all(
        [client, other].map((each) => each.contexts.build({ thread: 'login', message: 'next' })),
      )
      expect(here && shownBy(here)).toHaveLength(3)
      expect(there && shownBy(there)).toEqual(here && shownBy(here))
    })

    test('and stored again, once, from the snapshot if their message was erased from its thread', async () => {
      const client = await settledClient('only-in-the-snapshot')
      const { id } = await client.snapshots.save({ agent: 'coder' })
      const sql = postgres(pipeline.databaseUrl, { max: 1, onnotice: () => {} })
      const [first] = (await client.messages.list({ thread: 'login' })).items
      // No function of Heddle removes one message of a thread: this simulates a store that lost it.
      await sql`delete from heddle.messages where id = ${first?.id ?? ''}`
      await sql.end()
      for (let round = 1; round <= 2; round++) {
        await client.agents.clear('coder')
        expect(await client.snapshots.restore(id)).toMatchObject({ messages: 2, restored: 2 })
        expect(await client.snapshots.restore(id)).toMatchObject({ restored: 0, present: 2 })
        const shown = await client.contexts.build({ thread: 'login' })
        expect(shownBy(shown).map(([, content]) => content)).toEqual([
          'The pelican service listens on port qqport4711.',
          'Then I will call the pelican there.',
        ])
      }
      expect((await contents(client, 'login')).toSorted()).toEqual([
        'The pelican service listens on port qqport4711.',
        'Then I will call the pelican there.',
      ])
    })
  })
})
