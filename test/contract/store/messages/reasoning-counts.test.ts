import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { countMessageTokens, countTokens } from '@heddle/core'
import { loadMessagesBySeq, loadThread, loadThreadSizes, recordTokenCounts } from '@heddle/store'
import postgres from 'postgres'
import { describe, expect, it } from 'vitest'
import { append, appendOne, newId, PROJECT, prepared, storeOfTests } from '../support.js'

const database = storeOfTests()
const MIGRATION = new URL('../../../../packages/store/migrations/before-1/0027_reasoning_tokens.sql', import.meta.url)

const thinking = [{ text: 'I should look first.', signature: 'EqQBCgIYAhIkNj'.repeat(20) }]
const thought = { role: 'assistant' as const, content: 'Next.', thinking }
const countsOf = (seq: number) => ({ seq, ...countMessageTokens({ ...thought, toolCalls: [] }, countTokens) })

describe('counts of messages with reasoning', () => {
  it('include the reasoning with its signatures, whose tokens are also stored separately', async () => {
    const { threadId } = await appendOne(
      database.store,
      append([prepared(), prepared(thought), { ...prepared(thought), tokensEstimate: 300 }], { thread: newId() }),
    )
    await database.store.inProject(PROJECT, async (tx) => {
      const counted = countsOf(2)
      expect(counted.reasoningTokens).toBeGreaterThan(100)
      await recordTokenCounts(tx, { threadId, counts: [{ seq: 1, tokens: 2, reasoningTokens: 0 }, counted] })
      const [first, second, third] = await loadMessagesBySeq(tx, { threadId, afterSeq: 0, limit: 10 })
      expect(first).toMatchObject({ tokens: 2, reasoningTokens: 0, tokensExact: true })
      expect(second).toMatchObject({ ...counted, tokensExact: true })
      expect(third).toMatchObject({ tokensExact: false })
      expect(third?.reasoningTokens).toBeGreaterThan(100)
      const sizes = await loadThreadSizes(tx, { threadId })
      expect(sizes).toMatchObject({ messages: 3, uncounted: 1, reasoningTokens: counted.reasoningTokens })
      expect(sizes.tokens).toBeGreaterThanOrEqual(counted.tokens + 2)
    })
  })

  it('of a thread that grows message by message share rows', async () => {
    const messages = Array.from({ length: 70 }, (_, index) => (index === 3 ? prepared(thought) : prepared()))
    const { threadId } = await appendOne(database.store, append(messages, { thread: newId() }))
    for (let seq = 1; seq <= messages.length; seq++) {
      const counts = [seq === 4 ? { seq, tokens: 9, reasoningTokens: 5 } : { seq, tokens: seq, reasoningTokens: 0 }]
      await database.store.inProject(PROJECT, (tx) => recordTokenCounts(tx, { threadId, counts }))
    }
    await database.store.inProject(PROJECT, async (tx) => {
      const read = await loadMessagesBySeq(tx, { threadId, afterSeq: 0, limit: 100 })
      expect(read.map(({ tokens }) => tokens)).toEqual(messages.map((_, index) => (index === 3 ? 9 : index + 1)))
      expect(read.map(({ reasoningTokens }) => reasoningTokens)).toEqual(messages.map((_, i) => (i === 3 ? 5 : 0)))
      const rows = await tx`select seq from heddle.message_tokens where thread_id = ${threadId} order by seq`
      expect(rows.map(({ seq }) => seq)).toEqual([1, 65])
    })
  })

  it('of earlier versions are deleted, all others stay, and their threads are counted again', async () => {
    const plain = await appendOne(database.store, append([prepared(), prepared()], { thread: newId() }))
    const reasoning = await appendOne(database.store, append([prepared(), prepared(thought)], { thread: newId() }))
    const counts = [1, 2].map((seq) => ({ seq, tokens: 7, reasoningTokens: 0 }))
    await database.store.inProject(PROJECT, async (tx) => {
      await tx`update heddle.stage_cursors set prune_seq = head_seq`
      for (const { threadId } of [plain, reasoning]) await recordTokenCounts(tx, { threadId, counts })
    })
    const sql = postgres(database.url, { max: 1, onnotice: () => {} })
    const statements = (await readFile(fileURLToPath(MIGRATION), 'utf8')).split('--> statement-breakpoint')
    for (const statement of statements.filter((each) => !each.includes('ADD COLUMN'))) await sql.unsafe(statement)
    await sql.end()
    await database.store.inProject(PROJECT, async (tx) => {
      const exact = async (threadId: string) =>
        (await loadMessagesBySeq(tx, { threadId, afterSeq: 0, limit: 10 })).map(({ tokensExact }) => tokensExact)
      expect(await exact(plain.threadId)).toEqual([true, true])
      expect(await exact(reasoning.threadId)).toEqual([false, false])
      expect((await loadThread(tx, plain))?.pruneSeq).toBe(2)
      expect((await loadThread(tx, reasoning))?.pruneSeq).toBe(0)
    })
  })
})
