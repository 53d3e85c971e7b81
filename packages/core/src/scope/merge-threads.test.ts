import { formats, HeddleError, limits, mergeSettings, type PartialSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { conversations, sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { validateContext } from '../../../../test/support/src/validators/index.js'
import { buildContext } from '../assembly/build.js'
import type { BuildInput } from '../assembly/input.js'
import type { CompactionState } from '../compaction/state.js'
import type { Message } from '../conversation/message.js'
import { positionOf } from '../conversation/order.js'
import { countRendered, countSystem } from '../formats/index.js'
import { estimateTokens } from '../tokens/tokens.js'
import { mergeThreads } from './merge-threads.js'
import type { ThreadShareOfScope } from './turns.js'

const bare = { state: null, covered: { count: 0, tokens: 0, code: '' } }
const at = (seconds: number, fields: Partial<Message> & { seq: number }) =>
  sampleMessage({ ...fields, orderedAtMs: seconds * 1_000 })

function inputOf(shares: readonly ThreadShareOfScope[], settings: PartialSettings, fields: Partial<BuildInput> = {}) {
  const merged = mergeThreads(shares, estimateTokens)
  const input: BuildInput = {
    agent: { name: 'lead', version: 1, systemPrompt: 'You lead.', docs: [] },
    thread: { name: 'main', title: null, goal: null, status: null },
    request: { thread: 'main' },
    settings: mergeSettings(settings),
    format: 'neutral',
    counter: 'o200k',
    count: estimateTokens,
    messages: merged.messages,
    unloaded: [...merged.leftOut].map(([thread, count]) => ({
      mode: 'left-out',
      count,
      tokens: 0,
      thread,
      reason: 'old',
    })),
    ineligible: {},
    imported: 0,
    state: merged.state,
    stateId: null,
    headSeq: 0,
    clearEpoch: 0,
    reference: (message) => message.origin?.reference ?? message.code,
    scope: { threads: shares.map(({ name }) => name), since: null },
    ...fields,
  }
  return input
}

const contentsOf = (context: { messages: readonly unknown[] }) =>
  context.messages.map((message) => (message as { content: string }).content)

describe('threads merged into one conversation', () => {
  const main = [
    at(1, { seq: 1, content: 'find out why it is slow' }),
    at(3, { seq: 2, role: 'assistant', content: '', toolCalls: [{ id: 'call-1', name: 'Read', arguments: {} }] }),
    at(9, { seq: 3, role: 'tool_result', toolCallId: 'call-1', content: 'the code of main' }),
  ]
  const research = [
    at(2, { seq: 1, content: 'measure the queries' }),
    at(4, {
      seq: 2,
      role: 'assistant',
      content: 'so I do',
      toolCalls: [{ id: 'call-1', name: 'Bash', arguments: {} }],
    }),
    at(5, { seq: 3, role: 'tool_result', toolCallId: 'call-1', content: 'the index is missing' }),
  ]
  const shares = [
    { name: 'main', messages: main, ...bare },
    { name: 'research "2"', messages: research, ...bare },
  ]

  test('are in chronological order, each message with the name of its thread, calls beside their results', () => {
    const context = buildContext(inputOf(shares, { budget: 4_000 }))
    expect(contentsOf(context)).toEqual([
      'You lead.',
      '[thread "main"]\nfind out why it is slow',
      '[thread "research \\"2\\""]\nmeasure the queries',
      '[thread "main"]',
      'the code of main',
      '[thread "research \\"2\\""]\nso I do',
      'the index is missing',
    ])
  })

  test('keep calls of two threads with the same id apart', () => {
    const { messages } = buildContext(inputOf(shares, { budget: 4_000 }))
    const ids = messages.flatMap((message) => (message['toolCallId'] === undefined ? [] : [message['toolCallId']]))
    expect(ids).toEqual(['call-1_0', 'call-1_1'])
  })

  test('are named in the receipt by their identity in their threads, with references that resolve from anywhere', () => {
    const { receipt } = buildContext(inputOf(shares, { budget: 4_000 }))
    const lines = receipt.entries.filter(({ count }) => count > 0)
    expect(lines.map(({ thread, fromSeq }) => [thread, fromSeq])).toEqual([
      ['main', 1],
      ['research "2"', 1],
      ['main', 2],
      ['main', 3],
      ['research "2"', 2],
      ['research "2"', 3],
    ])
    expect(lines[1]).toMatchObject({
      messageId: research[0]?.id,
      reference: `nexora://_/research%20%222%22/msg-${research[0]?.code}`,
    })
    expect(receipt.scope).toEqual({ threads: ['main', 'research "2"'], since: null })
  })

  test('leave out reasoning, which is signed for its original conversation', () => {
    const signed = { ...main[1], thinking: [{ text: 'hm', signature: 'abc' }] } as Message
    const { messages } = mergeThreads([{ name: 'main', messages: [signed], ...bare }], estimateTokens)
    expect(messages[0]?.thinking).toEqual([])
  })
})

describe('a thread with a summarized beginning', () => {
  const [covered, pruned] = [
    at(1, { seq: 1 }),
    at(2, { seq: 2, role: 'tool_result', toolCallId: 'x', content: 'long' }),
  ]
  const state: CompactionState = {
    point: positionOf(pruned),
    headSeq: 2,
    topIds: [],
    covered: { from: positionOf(covered), to: positionOf(covered) },
    summary: 'They chose Postgres [recall:msg-00000001].',
    summaryTokens: 10,
    prunings: new Map([
      [
        pruned.id,
        {
          messageId: pruned.id,
          action: 'condense',
          text: 'short [recall:msg-00000002]',
          calls: null,
          tokens: 8,
          reason: 'old',
        },
      ],
    ]),
  }
  const share = { name: 'old', messages: [pruned], state, covered: { count: 40, tokens: 900, code: '00000001' } }
  const later = { name: 'new', messages: [at(3, { seq: 1, content: 'and now?' })], ...bare }

  test('has its summary at the original position and condensed messages as they were, with references that resolve from other threads', () => {
    const context = buildContext(inputOf([share, later], { budget: 4_000 }))
    const [, summary, text] = contentsOf(context)
    expect(summary).toMatch(
      /^\[thread "old"\]\n<earlier-conversation[^>]*>\nThey chose Postgres \[recall:nexora:\/\/_\/old\/msg-00000001\]/,
    )
    expect(text).toContain('short [recall:nexora://_/old/msg-00000002]')
    expect(context.receipt.eligible).toBe(42)
    const lines = context.receipt.entries.map(({ mode, count, thread, reason }) => [mode, count, thread, reason])
    expect(lines).toContainEqual(['covered', 40, 'old', 'summarized'])
    expect(lines).toContainEqual(['raw', 0, 'old', 'the summary of the covered messages'])
  })

  test('is accounted for if its summary does not fit', () => {
    const filler = { name: 'new', messages: [at(3, { seq: 1, content: 'and now? '.repeat(200) })], ...bare }
    const context = buildContext(
      inputOf([share, filler], { budget: 600, strategy: 'sliding-window', slidingWindow: { keepLastN: 1 } }),
    )
    expect(context.receipt.eligible).toBe(42)
    expect(JSON.stringify(context.messages)).not.toContain('Postgres')
  })
})

test('of more messages than a briefing considers, the newest whole turns are used, and the others counted', () => {
  const long = Array.from({ length: limits.multiThreadMessagesMax }, (_, index) =>
    at(index, { seq: index + 1, content: 'x' }),
  )
  const call = at(10_000, { seq: 1, role: 'assistant', toolCalls: [{ id: 'a', name: 'Read', arguments: {} }] })
  const result = at(10_001, { seq: 2, role: 'tool_result', toolCallId: 'a' })
  const shares = [
    { name: 'long', messages: long, ...bare },
    { name: 'short', messages: [call, result], ...bare },
  ]
  const merged = mergeThreads(shares, estimateTokens)
  expect(merged.messages).toHaveLength(limits.multiThreadMessagesMax)
  expect([...merged.leftOut]).toEqual([['long', 2]])
})

test('any threads and any budget give a context that is valid, within the budget, and accounts for each message once', () => {
  const strategies = fc.constantFrom(
    'sandwich' as const,
    'sliding-window' as const,
    'full-history' as const,
    'tree' as const,
  )
  const any = fc.record({
    threads: fc.array(fc.record({ messages: conversations(10), pace: fc.integer({ min: 1, max: 5 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    budget: fc.integer({ min: 300, max: 6_000 }),
    strategy: strategies,
    format: fc.constantFrom(...formats),
  })
  fc.assert(
    fc.property(any, ({ threads, budget, strategy, format }) => {
      // Threads of different pace, so that turns interleave, and with call ids that all of them share.
      const shares = threads.map(({ messages, pace }, index) => ({
        name: `t${index}`,
        messages: messages.map((each) => ({ ...each, orderedAtMs: each.seq * 1_000 * pace })),
        ...bare,
      }))
      const context = builtOrRefused(inputOf(shares, { budget, strategy }, { format }))
      if (context instanceof HeddleError) return
      expect(validateContext(context)).toEqual([])
      expect(context.tokensUsed).toBeLessThanOrEqual(budget)
      const real = countRendered(context.messages, estimateTokens) + countSystem(context.system, estimateTokens)
      expect(real).toBeLessThanOrEqual(budget)
      const accounted = context.receipt.entries.flatMap(({ thread, fromSeq, count }) =>
        Array.from({ length: count }, (_, index) => `${thread} ${(fromSeq ?? 0) + index}`),
      )
      const all = shares.flatMap(({ name, messages }) => messages.map(({ seq }) => `${name} ${seq}`))
      expect(accounted.sort()).toEqual(all.sort())
    }),
    { numRuns: 25 },
  )
})

function builtOrRefused(input: BuildInput) {
  try {
    return buildContext(input)
  } catch (error) {
    if (error instanceof HeddleError && error.code === 'BUDGET_TOO_SMALL') return error
    throw error
  }
}
