import { threadIdOf } from '@heddle/core'
import {
  countMessages,
  existingMessages,
  listMessages,
  loadMessage,
  loadMessagesBySeq,
  recordTokenCounts,
} from '@heddle/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { append, appendOne, newId, PROJECT, prepared, RECEIVED_AT_MS, storeOfTests } from '../support.js'

const database = storeOfTests()

let threads = 0
const freshThread = () => `window ${++threads}`

describe('countMessages', () => {
  it('counts exactly the same as a reading of all messages, late ones, errors and asides included', async () => {
    const message = fc.record({
      atMs: fc.nat({ max: 20 }),
      kind: fc.constantFrom('plain' as const, 'plain' as const, 'error' as const, 'aside' as const),
    })
    const scenario = fc.record({
      messages: fc.array(message, { minLength: 1, maxLength: 40 }),
      sinceMs: fc.option(fc.integer({ min: -1, max: 21 })),
      cleared: fc.nat({ max: 40 }),
    })
    await fc.assert(
      fc.asyncProperty(scenario, async ({ messages, sinceMs, cleared }) => {
        const thread = freshThread()
        const appended = messages.map(({ atMs, kind }, ordinal) =>
          prepared(
            { role: kind === 'error' ? 'error' : 'user', ...(kind === 'aside' && { keptAside: 'compact-summary' }) },
            { ordinal, orderedAtMs: RECEIVED_AT_MS + atMs },
          ),
        )
        const { threadId } = await appendOne(database.store, append(appended, { thread }))
        const bound = sinceMs === null ? null : RECEIVED_AT_MS + sinceMs
        const afterSeq = Math.min(cleared, messages.length)
        const [all, counts] = await database.store.inProject(PROJECT, (tx) =>
          Promise.all([
            loadMessagesBySeq(tx, { threadId, afterSeq: 0, limit: 100 }),
            countMessages(tx, { threadId, sinceMs: bound, afterSeq }),
          ]),
        )
        const inside = all.filter(({ seq, orderedAtMs }) => seq > afterSeq && (bound === null || orderedAtMs > bound))
        const eligible = inside.filter(({ role, keptAside }) => role !== 'error' && keptAside === null)
        expect(counts).toMatchObject({ stored: all.length, inWindow: inside.length, eligible: eligible.length })
        expect(counts.aside['error'] ?? 0).toBe(inside.filter(({ role }) => role === 'error').length)
        expect(counts.aside['compact-summary'] ?? 0).toBe(inside.filter(({ keptAside }) => keptAside !== null).length)
      }),
      { numRuns: 60 },
    )
  })
})

describe('messages', () => {
  it('have the estimate until they are counted, and the first count from then on', async () => {
    const { threadId } = await appendOne(database.store, append([prepared(), prepared()], { thread: freshThread() }))
    await database.store.inProject(PROJECT, async (tx) => {
      await recordTokenCounts(tx, { threadId, counts: [{ seq: 2, tokens: 77, reasoningTokens: 0 }] })
      await recordTokenCounts(tx, { threadId, counts: [{ seq: 2, tokens: 78, reasoningTokens: 0 }] })
      await recordTokenCounts(tx, { threadId, counts: [] })
      const messages = await loadMessagesBySeq(tx, { threadId, afterSeq: 0, limit: 10 })
      expect(messages.map(({ tokens, tokensExact }) => [tokens, tokensExact])).toEqual([
        [2, false],
        [77, true],
      ])
    })
  })

  it('are counted in ranges of any length, also with gaps between them', async () => {
    const all = Array.from({ length: 300 }, () => prepared())
    const { threadId } = await appendOne(database.store, append(all, { thread: freshThread() }))
    const gap = 280
    const counts = all
      .map((_, index) => ({ seq: index + 1, tokens: 1_000 + index, reasoningTokens: index % 50 === 0 ? index : 0 }))
      .filter(({ seq }) => seq !== gap)
    await database.store.inProject(PROJECT, async (tx) => {
      await recordTokenCounts(tx, { threadId, counts: counts.slice(0, 2) })
      // A count that began before these existed: the longer range stays.
      await recordTokenCounts(tx, { threadId, counts })
      const messages = await loadMessagesBySeq(tx, { threadId, afterSeq: 0, limit: all.length })
      const exact = messages.filter(({ tokensExact }) => tokensExact)
      expect(exact.map(({ seq, tokens, reasoningTokens }) => ({ seq, tokens, reasoningTokens }))).toEqual(counts)
    })
  })

  it('are found by id and by code, only in their own thread, and paged by sequence', async () => {
    const messages = [prepared(), prepared(), prepared()]
    const { threadId } = await appendOne(database.store, append(messages, { thread: freshThread() }))
    await database.store.inProject(PROJECT, async (tx) => {
      const id = messages[1]?.input.id ?? ''
      const found = await loadMessage(tx, { threadId, id })
      expect(found).toMatchObject({ id, seq: 2 })
      expect(await loadMessage(tx, { threadId, code: found?.code ?? '' })).toEqual(found)
      expect(await loadMessage(tx, { threadId: threadIdOf(PROJECT, 'another'), id })).toBeNull()
      expect(await loadMessage(tx, { threadId, code: 'nothing0' })).toBeNull()
      const page = await listMessages(tx, { threadId, afterSeq: 1, limit: 1 })
      expect(page).toEqual([found])
      const known = await existingMessages(tx, { threadId, ids: [id, newId()] })
      expect([...known.keys()]).toEqual([id])
      expect(known.get(id)).toBe(messages[1]?.fingerprint)
    })
  })
})
