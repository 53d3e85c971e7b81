import { fills, formats } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { lookAtBudgets } from '../../../../test/support/src/samples/budget-faults.js'
import { conversations, sampleMessage, withReasoning } from '../../../../test/support/src/samples/conversations.js'
import { sampleInput } from '../../../../test/support/src/samples/sample-input.js'
import { buildContext } from '../assembly/build.js'
import type { Message } from '../conversation/message.js'
import { estimateTokens } from '../tokens/tokens.js'
import { chooseFill } from './choose-fill.js'

const HISTORIES = propertyRuns(120)

const rows = fc.record({
  messages: fc
    .tuple(conversations(60), fc.nat({ max: 1_000 }))
    .map(([messages, seed]) => withReasoning(messages, seed)),
  strategy: fc.constantFrom('sandwich', 'tree', 'sliding-window', 'full-history'),
  format: fc.constantFrom(...formats),
  fill: fc.constantFrom(...fills),
  message: fc.constantFrom('go on', undefined),
  budgets: fc
    .uniqueArray(fc.integer({ min: 60, max: 12_000 }), { minLength: 3, maxLength: 6 })
    .map((budgets) => budgets.sort((left, right) => left - right)),
})

describe('any history with reasoning and parallel calls, in any format and by any strategy', () => {
  test('a budget larger than one that works always works, and is respected', () => {
    fc.assert(
      fc.property(rows, ({ message, ...row }) => {
        const outcome = lookAtBudgets({ ...row, message, count: estimateTokens })
        expect(outcome).toMatchObject({ refusedLarger: 0, wrongNeeds: 0, overBudget: 0, broken: 0 })
      }),
      { numRuns: HISTORIES, endOnFailure: true },
    )
  })
})

/** A session like those of coding agents: occasional requests, and sequences of calls between them. */
function session(turns: number): Message[] {
  const messages: Message[] = []
  const add = (fields: Partial<Message>) => messages.push(sampleMessage({ seq: messages.length + 1, ...fields }))
  for (let turn = 0; turn < turns; turn++) {
    if (turn % 9 === 0) add({ role: 'user', content: `Step ${turn}: ${'please look at the login again '.repeat(4)}` })
    const calls = [{ id: `call-${turn}`, name: 'Read', arguments: { file_path: `/src/file${turn % 7}.ts` } }]
    add({ role: 'assistant', content: `I look at ${turn}.`, toolCalls: calls })
    const content = `${turn} ${'const value = await load(name) '.repeat((turn * 37) % 80)}`
    add({ role: 'tool_result', toolCallId: `call-${turn}`, toolName: 'Read', content })
  }
  return withReasoning(messages, 3)
}

describe('a session that is larger than its budget', () => {
  const budgets = [1_500, 2_000, 3_000, 4_500, 7_000, 10_000, 14_000, 20_000]

  test.each([...formats])('uses nearly all of each budget in %s, and more of a larger one', (format) => {
    for (const strategy of ['sandwich', 'tree']) {
      for (const asked of [{}, { message: 'go on' }]) {
        const row = { messages: session(120), strategy, format, fill: 'budget' as const, ...asked }
        const outcome = lookAtBudgets({ ...row, budgets, count: estimateTokens })
        expect(outcome.first).toBeNull()
        expect(outcome.usedShares.length).toBeGreaterThan(5)
        expect(Math.min(...outcome.usedShares)).toBeGreaterThan(0.85)
      }
    }
  })

  test('shows the newest turns verbatim, and one summary of the messages between them and the first ones', () => {
    const messages = session(120)
    const request = { thread: 'run', message: 'go on' }
    const { receipt, summaryUsed } = buildContext(
      sampleInput({ messages, fill: 'budget', request, count: estimateTokens }, { budget: 6_000 }),
    )
    expect(summaryUsed).toBe(true)
    const modes = receipt.entries.filter(({ count }) => count > 0)
    const covered = modes.filter(({ mode }) => mode === 'covered')
    const last = Math.max(...covered.map(({ toSeq = 0 }) => toSeq))
    const newest = modes.filter(({ fromSeq = 0 }) => fromSeq > last)
    expect(newest.at(-1)?.toSeq).toBe(messages.length)
    expect(newest.slice(2).every(({ mode }) => mode === 'raw')).toBe(true)
    expect(modes.reduce((sum, { count }) => sum + count, 0)).toBe(messages.length)
  })

  test('keeps messages whose pruning was undone, and pinned ones, wherever they are', () => {
    const messages = session(120).map((message) =>
      message.seq === 70 ? { ...message, undone: true } : message.seq === 1 ? { ...message, pinned: true } : message,
    )
    const { receipt } = buildContext(
      sampleInput({ messages, fill: 'budget', count: estimateTokens }, { budget: 6_000 }),
    )
    const entryOf = (seq: number) => receipt.entries.find(({ fromSeq }) => fromSeq === seq)
    expect(entryOf(70)).toMatchObject({ mode: 'raw' })
    expect(entryOf(1)).toMatchObject({ mode: 'raw', reason: 'pinned' })
  })
})

test('the fill depends on the latest context of the same budget, and on whether the thread has grown since', () => {
  expect(chooseFill(null, 10)).toBe('budget')
  expect(chooseFill({ fill: 'budget', headSeq: 10 }, 10)).toBe('budget')
  expect(chooseFill({ fill: 'cache', headSeq: 10 }, 10)).toBe('cache')
  expect(chooseFill({ fill: 'budget', headSeq: 9 }, 10)).toBe('cache')
})
