import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { conversations, sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { readConversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { countTokens } from '../tokens/tokens.js'
import { summarizeByTree } from './in-memory.js'
import { cutLeaves, leafHash, partTokensMax, readTokens } from './leaves.js'
import { type TreeNode, topOfTree } from './nodes.js'
import { parentRequest } from './requests.js'

const shape = { leafTokens: 500, fanOut: 4 }
const reference = (message: Message) => `msg-${message.code}`
const hashesOf = (messages: readonly Message[]) =>
  cutLeaves(messages, shape).leaves.map((leaf) => leafHash(leaf, shape))
const leavesUnder = (nodes: readonly TreeNode[]): string[] =>
  nodes.flatMap(({ hash, children }) => (children.length === 0 ? [hash] : leavesUnder(children)))
const partsUnder = (nodes: readonly TreeNode[]): string[] =>
  nodes.flatMap(({ hash, children }) => [hash, ...partsUnder(children)])

/** A talk of messages of about 60 tokens. */
const talk = (length: number, from = 1) =>
  Array.from({ length }, (_, index) =>
    sampleMessage({
      seq: from + index,
      role: (from + index) % 2 === 0 ? 'assistant' : 'user',
      content: `Message ${from + index}: we decided that part ${from + index} goes into src/part${from + index}.ts. ${'word '.repeat(30)}`,
    }),
  )

describe('the leaves of a conversation', () => {
  test('are its messages in order, each once, cut between turns', () => {
    fc.assert(
      fc.property(conversations(), (messages) => {
        const { leaves, open } = cutLeaves(messages, shape)
        expect([...leaves.flat(), ...open]).toEqual(messages)
        const { pairs } = readConversation(messages)
        const leafOf = new Map(leaves.flatMap((leaf, index) => leaf.map((message) => [message.id, index])))
        for (const leaf of leaves) {
          const tokens = leaf.reduce((sum, message) => sum + readTokens(message), 0)
          expect(tokens).toBeGreaterThanOrEqual(shape.leafTokens / 2)
          if (tokens >= 4 * shape.leafTokens) return
        }
        for (const { callMessage, result } of pairs.byResult.values()) {
          if (result && callMessage.seq < result.seq) expect(leafOf.get(result.id)).toBe(leafOf.get(callMessage.id))
        }
      }),
      { numRuns: 100 },
    )
  })

  test('stay the same while messages follow them', () => {
    fc.assert(
      fc.property(conversations(), fc.nat(), (messages, cut) => {
        const before = hashesOf(messages.slice(0, cut % messages.length))
        expect(hashesOf(messages).slice(0, before.length)).toEqual(before)
      }),
      { numRuns: 100 },
    )
  })

  test('change only near a late message', () => {
    const messages = talk(1_500)
    const late = sampleMessage({ seq: 2_000, content: 'a word that came late' })
    const after = new Set(hashesOf([...messages.slice(0, 300), late, ...messages.slice(300)]))
    const changed = hashesOf(messages).filter((hash) => !after.has(hash))
    expect(changed.length).toBeGreaterThan(0)
    expect(changed.length).toBeLessThan(hashesOf(messages).length / 10)
  })
})

describe('the levels of a tree', () => {
  const hashes = (count: number) => hashesOf(talk(count))

  test('cover every leaf once, in order, with a top that grows with the logarithm of the leaves', () => {
    const leaves = hashes(4_000)
    const top = topOfTree(leaves, shape)
    expect(leaves.length).toBeGreaterThan(400)
    expect(leavesUnder(top)).toEqual(leaves)
    expect(top.length).toBeLessThanOrEqual(4 * Math.ceil(Math.log2(leaves.length)))
    for (const { children } of top) expect(children.length).toBeLessThanOrEqual(shape.fanOut)
  })

  test('keep their full parts when leaves are added: only the end changes', () => {
    const before = new Set(partsUnder(topOfTree(hashes(2_000), shape)))
    const after = partsUnder(topOfTree(hashes(2_100), shape))
    const fresh = after.filter((hash) => !before.has(hash))
    expect(fresh.length).toBeGreaterThan(0)
    expect(fresh.length).toBeLessThan(40)
    const kept = new Set(after)
    expect([...before].filter((hash) => !kept.has(hash))).toEqual([])
  })
})

test("a part's request has only its direct children, and its own length", () => {
  expect(parentRequest(['one', 'two'], shape)).toEqual({
    purpose: 'compaction',
    messages: [],
    previousSummary: 'one\n\ntwo',
    tokensMax: partTokensMax(shape),
  })
})

test('a hierarchical summary is within its length, is deterministic, and still mentions the beginning', () => {
  const messages = talk(3_000)
  messages[3] = sampleMessage({ seq: 4, content: 'Please always deploy with the zebra-deploy script, never by hand.' })
  const summarized = () => summarizeByTree(messages, shape, { tokensMax: 600, before: null, reference })
  const summary = summarized()
  expect(countTokens(summary)).toBeLessThanOrEqual(600)
  expect(summary).toContain('zebra-deploy')
  expect(summarized()).toBe(summary)
})
