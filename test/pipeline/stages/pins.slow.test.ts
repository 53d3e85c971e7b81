import type { PlacedMessage } from '@heddle/contracts'
import { endPins } from '@heddle/store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'
import { AGENT, session, settledTenant, settledView, THREAD } from '../tenant.js'

const messages = session('pins', 60)
/** A view of a file in the middle, which a context shows only condensed or in a summary. */
const middle = messages.findIndex(({ message }, index) => index > 60 && message.role === 'tool_result')
const chosen = messages[middle]?.message.id ?? ''
const pinnedAtFirst: PlacedMessage[] = messages.map((placed, index) =>
  index === middle ? { ...placed, message: { ...placed.message, pinned: true } } : placed,
)

const backends = queueBackends()

describe.each(backends)('pins of stored messages on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('of a thread', () => {
    let pipeline: Pipeline
    beforeAll(async () => {
      pipeline = await openPipeline(mode)
      await pipeline.start()
    })
    afterAll(() => pipeline?.close())

    test('lead to the contexts of a message that was appended with its pin, whenever they are set', async () => {
      const expected = await settledView((await settledTenant(pipeline, 'appended', pinnedAtFirst)).client)
      expect(JSON.stringify(expected)).toContain('pinned')

      const late = await settledTenant(pipeline, 'late', messages)
      const set = await late.client.pins.set({ thread: THREAD, messageId: chosen })
      expect(set).toMatchObject({ thread: THREAD, action: 'pinned', messages: 1 })
      expect(set.compactions).toBeGreaterThan(0)
      expect(await late.client.pins.set({ thread: THREAD, messageId: chosen })).toMatchObject({ messages: 0 })
      await late.whenSettled(messages.length)
      expect(await settledView(late.client)).toEqual(expected)

      const early = await settledTenant(pipeline, 'early', messages.slice(0, middle + 1))
      await early.client.pins.set({ thread: THREAD, messageId: chosen })
      await early.send(messages.slice(middle + 1))
      await early.whenSettled(messages.length)
      expect(await settledView(early.client)).toEqual(expected)
    })

    test('are taken back, also those that a message was appended with, as if they had never been', async () => {
      const expected = await settledView((await settledTenant(pipeline, 'plain', messages)).client)
      const pinned = await settledTenant(pipeline, 'pinned', pinnedAtFirst)
      const range = { thread: THREAD, fromSeq: middle + 1, toSeq: middle + 1 }
      const shown = async () =>
        (await pinned.client.messages.list({ thread: THREAD, limit: 500 })).items.find(({ id }) => id === chosen)
          ?.pinned
      expect(await shown()).toBe(true)
      expect(await pinned.client.pins.remove(range)).toMatchObject({ action: 'unpinned', messages: 1 })
      expect(await shown()).toBeUndefined()
      await pinned.whenSettled(messages.length)
      expect(await settledView(pinned.client)).toEqual(expected)
    })

    test('are listed, and end at their time', async () => {
      const tenant = await settledTenant(pipeline, 'ending', messages)
      const until = new Date(Date.now() + 3_600_000).toISOString()
      await tenant.client.pins.set({ thread: THREAD, messageId: chosen, until })
      const { items } = await tenant.client.pins.list({ thread: THREAD })
      expect(items).toMatchObject([{ messageId: chosen, seq: middle + 1, until, role: 'tool_result' }])
      const [{ reference } = { reference: '' }] = items
      await tenant.whenSettled(messages.length)
      const before = Date.parse(until) - 1
      expect(await endPins(pipeline.store, { beforeMs: before, limit: 10 })).toEqual([])
      const ended = await endPins(pipeline.store, { beforeMs: Date.parse(until), limit: 10 })
      expect(ended).toMatchObject([{ projectId: tenant.projectId }])
      for (const thread of ended) await pipeline.queues.wake('prune', thread)
      await tenant.whenSettled(messages.length)
      expect((await tenant.client.pins.list({ thread: THREAD })).items).toEqual([])
      const plain = await settledTenant(pipeline, 'never', messages)
      expect(await settledView(tenant.client)).toEqual(await settledView(plain.client))
      expect(await tenant.client.pins.set({ thread: THREAD, messageId: reference })).toMatchObject({ messages: 1 })
    })

    test('are refused by name and rule if they name nothing, are over, or would fill the contexts', async () => {
      const tenant = await settledTenant(pipeline, 'refused', messages.slice(0, 60))
      await tenant.client.messages.append({
        agent: AGENT,
        thread: 'other',
        messages: messages.slice(0, 1).map(({ message }) => message),
      })
      const [other] = (await tenant.client.messages.list({ thread: 'other' })).items
      const foreign = `nexora://_/other/${other?.reference}`
      const faulty = [
        [{}, 'messageId'],
        [{ messageId: chosen, fromSeq: 1, toSeq: 1 }, 'messageId'],
        [{ fromSeq: 3, toSeq: 2 }, 'fromSeq'],
        [{ messageId: 'no reference' }, 'messageId'],
        [{ messageId: `nexora://elsewhere/${THREAD}/msg-00000000` }, 'messageId'],
        [{ messageId: foreign }, 'messageId'],
        [{ messageId: 'msg-00000000', until: '2020-01-01T00:00:00Z' }, 'until'],
        [{ fromSeq: 1, toSeq: 60 }, 'messageId'],
      ] as const
      for (const [part, field] of faulty) {
        const refused = tenant.client.pins.set({ thread: THREAD, ...part })
        await expect(refused).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field })
      }
      const missing = tenant.client.pins.set({ thread: THREAD, messageId: 'msg-00000000' })
      await expect(missing).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect((await tenant.client.pins.list({ thread: THREAD })).items).toEqual([])
    })
  })
})
