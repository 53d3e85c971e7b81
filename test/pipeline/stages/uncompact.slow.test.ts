import type { ContextResult, PlacedMessage } from '@heddle/contracts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { validateOpenAiChat } from '../../support/src/validators/index.js'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'
import { AGENT, BUDGET, session, settledTenant, settledView, type Tenant, THREAD } from '../tenant.js'

const messages = session('undo', 80)
const REASON = 'its pruning was undone'

/** A message in the middle, which a context shows only in a summary or as a condensed line: a view of a file. */
const middle = indexOfResult(30)
const chosen = idOf(messages[middle])

const later = (from: number, share: (index: number) => boolean) =>
  messages.slice(from).filter((_, index) => share(index + from))

// An embedded server has the queues of Postgres.
const backends = queueBackends()

describe.each(backends)('undoing a compaction on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('of a thread', () => {
    let pipeline: Pipeline
    beforeAll(async () => {
      pipeline = await openPipeline(mode)
      await pipeline.start()
    })
    afterAll(() => pipeline?.close())

    const undo = (tenant: Tenant, more: object = {}) =>
      tenant.client.contexts.uncompact({ thread: THREAD, agent: AGENT, messageId: chosen, ...more })
    const entryOf = (context: ContextResult, id = chosen) =>
      context.receipt.entries.find((entry) => entry.messageId === id)
    const contextOf = (tenant: Tenant) => tenant.client.contexts.build({ thread: THREAD, format: 'openai-chat' })

    function expectSound(context: ContextResult, eligible: number) {
      expect(context.tokensUsed).toBeLessThanOrEqual(BUDGET)
      expect(validateOpenAiChat(context.messages as never)).toEqual([])
      expect(context.receipt.entries.reduce((sum, { count }) => sum + count, 0)).toBe(eligible)
    }

    test('shows a message verbatim in the next context, and later compactions leave it verbatim', async () => {
      const first = messages.slice(0, 200)
      const tenant = await settledTenant(pipeline, 'raw-again', first)
      expect(entryOf(await contextOf(tenant))).toBeUndefined()

      const result = await undo(tenant)
      expect(result).toMatchObject({ thread: THREAD, agent: AGENT, action: 'undone', messages: 1 })
      expect(result.compactions).toBeGreaterThan(0)
      const next = await contextOf(tenant)
      expect(entryOf(next)).toMatchObject({ mode: 'raw', reason: REASON })
      expect(JSON.stringify(next.messages)).toContain(JSON.stringify(messages[middle]?.message.content).slice(1, -1))
      expectSound(next, first.length)
      expect(await undo(tenant)).toMatchObject({ messages: 0, compactions: 0 })

      await tenant.whenSettled(first.length)
      await tenant.send(messages.slice(200))
      await tenant.whenSettled(messages.length)
      const grown = await contextOf(tenant)
      expect(grown.receipt.stateId).not.toBeNull()
      expect(entryOf(grown)).toMatchObject({ mode: 'raw', reason: REASON })
      expectSound(grown, messages.length)

      expect(await undo(tenant, { redo: true })).toMatchObject({ action: 'redone', messages: 1 })
      await tenant.whenSettled(messages.length)
      const again = await contextOf(tenant)
      expect(entryOf(again)).toBeUndefined()
      expectSound(again, messages.length)
    })

    test('leads to the same contexts at any time, whatever the order of messages', async () => {
      const plain = await settledTenant(pipeline, 'plain', messages)
      await undo(plain)
      await plain.whenSettled(messages.length)
      const expected = await settledView(plain.client)
      expect(JSON.stringify(expected)).toContain(REASON)

      const early = await settledTenant(pipeline, 'early', messages.slice(0, 150))
      await undo(early)
      for (const share of [(index: number) => index % 3 === 1, (index: number) => index % 3 !== 1])
        await early.send(later(150, share))
      await early.whenSettled(messages.length)
      expect(await settledView(early.client)).toEqual(expected)

      const racing = await settledTenant(pipeline, 'racing', messages.slice(0, 150))
      const sending = [0, 1, 2, 3].map((part) => racing.send(later(150, (index) => index % 4 === part)))
      await Promise.all([...sending, undo(racing), undo(racing)])
      await racing.whenSettled(messages.length)
      expect(await settledView(racing.client)).toEqual(expected)
    })

    test('and redoing it leads to the state that the thread would have without both', async () => {
      const untouched = await settledTenant(pipeline, 'untouched', messages)
      const back = await settledTenant(pipeline, 'back', messages)
      await undo(back)
      await back.whenSettled(messages.length)
      await undo(back, { redo: true })
      await back.whenSettled(messages.length)
      expect(await settledView(back.client)).toEqual(await settledView(untouched.client))
    })

    test('of all messages shows as many verbatim as fit, and counts the rest', async () => {
      const tenant = await settledTenant(pipeline, 'all', messages)
      const result = await tenant.client.contexts.uncompact({ thread: THREAD, all: true })
      expect(result.messages).toBeGreaterThan(150)
      for (let round = 0; round < 2; round++) {
        const context = await contextOf(tenant)
        expectSound(context, messages.length)
        expect(context.receipt.entries.filter(({ reason }) => reason === REASON).length).toBeGreaterThan(3)
        expect(context.receipt.notes.join('\n')).toMatch(/\d+ messages whose pruning was undone do not fit/)
        await tenant.whenSettled(messages.length)
      }
    })

    test('of a range affects only the messages of the range', async () => {
      const tenant = await settledTenant(pipeline, 'range', messages)
      const history = await tenant.client.messages.list({ thread: THREAD, limit: 500 })
      const entry = history.items.find(({ id }) => id === chosen)
      const seq = entry?.seq ?? 0
      expect(await tenant.client.contexts.uncompact({ thread: THREAD, fromSeq: seq, toSeq: seq })).toMatchObject({
        messages: 1,
      })
      expect(entryOf(await contextOf(tenant))?.mode).toBe('raw')
      const byReference = { thread: THREAD, messageId: entry?.reference ?? '', redo: true }
      expect(await tenant.client.contexts.uncompact(byReference)).toMatchObject({ action: 'redone', messages: 1 })
    })

    test('refuses a request that does not name messages', async () => {
      const tenant = await settledTenant(pipeline, 'refused', messages.slice(0, 20))
      const faulty = [
        {},
        { messageId: chosen, all: true as const },
        { fromSeq: 5, toSeq: 2 },
        { fromSeq: 1 },
        { messageId: chosen, agent: 'other' },
      ]
      for (const part of faulty) {
        const refused = tenant.client.contexts.uncompact({ thread: THREAD, ...part })
        await expect(refused).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
      }
      await expect(tenant.client.contexts.uncompact({ thread: 'none', all: true })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
    })

    test('a plan of a compaction says what it would do, and changes nothing', async () => {
      const tenant = await settledTenant(pipeline, 'planned', messages.slice(0, 60))
      const before = await tenant.client.threads.get(THREAD)
      const plan = await tenant.client.contexts.planPruning({ thread: THREAD, budget: 2_000 })
      expect(plan).toMatchObject({ thread: THREAD, agent: AGENT, due: true })
      expect(plan.tokensBefore - plan.tokensAfter).toBe(plan.tokensFreed)
      expect(plan.tokensFreed).toBeGreaterThan(0)
      expect(new Set(plan.messages.map(({ action }) => action))).toContain('summarize')
      expect(await tenant.client.contexts.planPruning({ thread: THREAD, budget: 2_000 })).toEqual(plan)
      expect(await tenant.client.threads.get(THREAD)).toEqual(before)
    })
  })
})

/** The index of the first result at or after a place. */
function indexOfResult(from: number): number {
  return messages.findIndex(({ message }, index) => index >= from && message.role === 'tool_result')
}

function idOf(placed: PlacedMessage | undefined): string {
  if (placed === undefined) throw new Error('the session is too short')
  return placed.message.id
}
