import type { ContextResult, PlacedMessage } from '@heddle/contracts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { validateOpenAiChat } from '../../support/src/validators/index.js'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'
import { AGENT, BUDGET, type Loom, openLoom, session, THREAD, woven } from '../weaving.js'

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

    async function settledLoom(project: string, placed: readonly PlacedMessage[]): Promise<Loom> {
      const loom = await openLoom(pipeline, project)
      await loom.send(placed)
      await loom.whenSettled(placed.length)
      return loom
    }

    const undo = (loom: Loom, more: object = {}) =>
      loom.client.contexts.uncompact({ thread: THREAD, agent: AGENT, messageId: chosen, ...more })
    const entryOf = (context: ContextResult, id = chosen) =>
      context.receipt.entries.find((entry) => entry.messageId === id)
    const contextOf = (loom: Loom) => loom.client.contexts.build({ thread: THREAD, format: 'openai-chat' })

    function expectSound(context: ContextResult, eligible: number) {
      expect(context.tokensUsed).toBeLessThanOrEqual(BUDGET)
      expect(validateOpenAiChat(context.messages as never)).toEqual([])
      expect(context.receipt.entries.reduce((sum, { count }) => sum + count, 0)).toBe(eligible)
    }

    test('shows a message verbatim in the next context, and later compactions leave it verbatim', async () => {
      const first = messages.slice(0, 200)
      const loom = await settledLoom('raw-again', first)
      expect(entryOf(await contextOf(loom))).toBeUndefined()

      const result = await undo(loom)
      expect(result).toMatchObject({ thread: THREAD, agent: AGENT, action: 'undone', messages: 1 })
      expect(result.compactions).toBeGreaterThan(0)
      const next = await contextOf(loom)
      expect(entryOf(next)).toMatchObject({ mode: 'raw', reason: REASON })
      expect(JSON.stringify(next.messages)).toContain(JSON.stringify(messages[middle]?.message.content).slice(1, -1))
      expectSound(next, first.length)
      expect(await undo(loom)).toMatchObject({ messages: 0, compactions: 0 })

      await loom.whenSettled(first.length)
      await loom.send(messages.slice(200))
      await loom.whenSettled(messages.length)
      const grown = await contextOf(loom)
      expect(grown.receipt.stateId).not.toBeNull()
      expect(entryOf(grown)).toMatchObject({ mode: 'raw', reason: REASON })
      expectSound(grown, messages.length)

      expect(await undo(loom, { redo: true })).toMatchObject({ action: 'redone', messages: 1 })
      await loom.whenSettled(messages.length)
      const again = await contextOf(loom)
      expect(entryOf(again)).toBeUndefined()
      expectSound(again, messages.length)
    })

    test('leads to the same contexts at any time, whatever the order of messages', async () => {
      const plain = await settledLoom('plain', messages)
      await undo(plain)
      await plain.whenSettled(messages.length)
      const expected = await woven(plain.client)
      expect(JSON.stringify(expected)).toContain(REASON)

      const early = await settledLoom('early', messages.slice(0, 150))
      await undo(early)
      for (const share of [(index: number) => index % 3 === 1, (index: number) => index % 3 !== 1])
        await early.send(later(150, share))
      await early.whenSettled(messages.length)
      expect(await woven(early.client)).toEqual(expected)

      const racing = await settledLoom('racing', messages.slice(0, 150))
      const sending = [0, 1, 2, 3].map((part) => racing.send(later(150, (index) => index % 4 === part)))
      await Promise.all([...sending, undo(racing), undo(racing)])
      await racing.whenSettled(messages.length)
      expect(await woven(racing.client)).toEqual(expected)
    })

    test('and redoing it leads to the state that the thread would have without both', async () => {
      const untouched = await settledLoom('untouched', messages)
      const back = await settledLoom('back', messages)
      await undo(back)
      await back.whenSettled(messages.length)
      await undo(back, { redo: true })
      await back.whenSettled(messages.length)
      expect(await woven(back.client)).toEqual(await woven(untouched.client))
    })

    test('of all messages shows as many verbatim as fit, and counts the rest', async () => {
      const loom = await settledLoom('all', messages)
      const result = await loom.client.contexts.uncompact({ thread: THREAD, all: true })
      expect(result.messages).toBeGreaterThan(150)
      for (let round = 0; round < 2; round++) {
        const context = await contextOf(loom)
        expectSound(context, messages.length)
        expect(context.receipt.entries.filter(({ reason }) => reason === REASON).length).toBeGreaterThan(3)
        expect(context.receipt.notes.join('\n')).toMatch(/\d+ messages whose pruning was undone do not fit/)
        await loom.whenSettled(messages.length)
      }
    })

    test('of a range affects only the messages of the range', async () => {
      const loom = await settledLoom('range', messages)
      const history = await loom.client.messages.list({ thread: THREAD, limit: 500 })
      const entry = history.items.find(({ id }) => id === chosen)
      const seq = entry?.seq ?? 0
      expect(await loom.client.contexts.uncompact({ thread: THREAD, fromSeq: seq, toSeq: seq })).toMatchObject({
        messages: 1,
      })
      expect(entryOf(await contextOf(loom))?.mode).toBe('raw')
      const byReference = { thread: THREAD, messageId: entry?.reference ?? '', redo: true }
      expect(await loom.client.contexts.uncompact(byReference)).toMatchObject({ action: 'redone', messages: 1 })
    })

    test('refuses a request that does not name messages', async () => {
      const loom = await settledLoom('refused', messages.slice(0, 20))
      const faulty = [
        {},
        { messageId: chosen, all: true as const },
        { fromSeq: 5, toSeq: 2 },
        { fromSeq: 1 },
        { messageId: chosen, agent: 'other' },
      ]
      for (const part of faulty) {
        const refused = loom.client.contexts.uncompact({ thread: THREAD, ...part })
        await expect(refused).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
      }
      await expect(loom.client.contexts.uncompact({ thread: 'none', all: true })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
    })

    test('a plan of a compaction says what it would do, and changes nothing', async () => {
      const loom = await settledLoom('planned', messages.slice(0, 60))
      const before = await loom.client.threads.get(THREAD)
      const plan = await loom.client.contexts.planPruning({ thread: THREAD, budget: 2_000 })
      expect(plan).toMatchObject({ thread: THREAD, agent: AGENT, due: true })
      expect(plan.tokensBefore - plan.tokensAfter).toBe(plan.tokensFreed)
      expect(plan.tokensFreed).toBeGreaterThan(0)
      expect(new Set(plan.messages.map(({ action }) => action))).toContain('summarize')
      expect(await loom.client.contexts.planPruning({ thread: THREAD, budget: 2_000 })).toEqual(plan)
      expect(await loom.client.threads.get(THREAD)).toEqual(before)
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
