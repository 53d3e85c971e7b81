import { type FormatName, HeddleError, type PartialSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { conversations, sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { sampleInput } from '../../../../test/support/src/samples/sample-input.js'
import { validateAnthropic, validateOpenAiChat } from '../../../../test/support/src/validators/index.js'
import type { Message } from '../conversation/message.js'
import { countRendered, countSystem } from '../formats/index.js'
import { estimateTokens } from '../tokens/tokens.js'
import { buildContext } from './build.js'
import type { BuildInput } from './input.js'

function inputOf(
  messages: readonly Message[],
  settings: PartialSettings,
  format: FormatName = 'neutral',
  fields: Partial<BuildInput> = {},
): BuildInput {
  return sampleInput({ messages, format, ...fields }, settings)
}

function built(input: BuildInput) {
  try {
    return buildContext(input)
  } catch (error) {
    if (error instanceof HeddleError && error.code === 'BUDGET_TOO_SMALL') return error
    throw error
  }
}

const strategies = fc.constantFrom('sandwich' as const, 'sliding-window' as const, 'full-history' as const)

describe('for any conversation and any budget, contexts', () => {
  test('fit the budget and are valid for both providers, or the error names the budget that is needed', () => {
    fc.assert(
      fc.property(conversations(), fc.integer({ min: 60, max: 12_000 }), strategies, (messages, budget, strategy) => {
        for (const format of ['openai-chat', 'anthropic'] as const) {
          const context = built(inputOf(messages, { budget, strategy }, format))
          if (context instanceof HeddleError) {
            expect(context.facts?.['needed']).toBeGreaterThan(budget)
            continue
          }
          expect(context.tokensUsed).toBeLessThanOrEqual(budget)
          const real = countRendered(context.messages, estimateTokens) + countSystem(context.system, estimateTokens)
          expect(real).toBeLessThanOrEqual(context.tokensUsed)
          const violations =
            format === 'anthropic' ? validateAnthropic(context as never) : validateOpenAiChat(context.messages as never)
          expect(violations).toEqual([])
        }
      }),
      { numRuns: propertyRuns(60) },
    )
  })

  test('account for every eligible message in exactly one line of the receipt', () => {
    fc.assert(
      fc.property(conversations(), fc.integer({ min: 400, max: 12_000 }), strategies, (messages, budget, strategy) => {
        const context = built(inputOf(messages, { budget, strategy }))
        if (context instanceof HeddleError) return
        expect(context.receipt.eligible).toBe(messages.length)
        const accounted = context.receipt.entries.flatMap((entry) =>
          entry.fromSeq === undefined
            ? []
            : Array.from({ length: entry.count }, (_, index) => (entry.fromSeq ?? 0) + index),
        )
        expect(accounted.sort((left, right) => left - right)).toEqual(messages.map((message) => message.seq))
        expect(context.receipt.sections.reduce((sum, section) => sum + section.tokens, 0)).toBeLessThanOrEqual(
          context.tokensUsed,
        )
      }),
      { numRuns: propertyRuns(60) },
    )
  })

  test('do not depend on the order in which the messages were read', () => {
    fc.assert(
      fc.property(
        conversations(60),
        fc.integer({ min: 400, max: 6_000 }),
        fc.infiniteStream(fc.nat()),
        (messages, budget, keys) => {
          const shuffled = messages
            .map((message) => ({ message, key: keys.next().value }))
            .sort((left, right) => left.key - right.key)
          const context = (of: readonly Message[]) => {
            const result = built(inputOf(of, { budget }))
            return result instanceof HeddleError ? result.toJSON() : result
          }
          expect(context(shuffled.map(({ message }) => message))).toEqual(context(messages))
        },
      ),
      { numRuns: propertyRuns(60) },
    )
  })
})

describe('a conversation that fits', () => {
  const messages = [
    sampleMessage({ seq: 1, content: 'hello' }),
    sampleMessage({ seq: 2, role: 'assistant', content: 'hi' }),
  ]

  test('is copied verbatim between the system prompt and the new message', () => {
    const context = buildContext(
      inputOf(messages, { budget: 1_000 }, 'neutral', { request: { thread: 'run', message: 'go on' } }),
    )
    expect(context.messages.map((message) => message['content'])).toEqual(['You write code.', 'hello', 'hi', 'go on'])
    expect(context.summaryUsed).toBe(false)
  })
})

test('over the threshold the middle becomes one system message, and the first and last five stay', () => {
  const messages = Array.from({ length: 60 }, (_, index) =>
    sampleMessage({
      seq: index + 1,
      content: `${index + 1} ${'We decided to use Postgres. '.repeat(20)}`,
      role: index % 2 ? 'assistant' : 'user',
    }),
  )
  const context = buildContext(inputOf(messages, { budget: 6_000 }))
  expect(context.summaryUsed).toBe(true)
  const contents = context.messages.map((message) => String(message['content']))
  const summaries = contents.filter((content) => content.startsWith('[Earlier conversation summary: '))
  expect(summaries).toHaveLength(1)
  for (const kept of [...messages.slice(0, 5), ...messages.slice(-5)]) expect(contents).toContain(kept.content)
  expect(
    context.receipt.entries.filter((entry) => entry.mode === 'covered').reduce((sum, entry) => sum + entry.count, 0),
  ).toBeGreaterThan(0)
})

test('a message that is longer than the whole budget is shortened and keeps its reference', () => {
  const messages = [
    sampleMessage({ seq: 1, content: 'fix it' }),
    sampleMessage({ seq: 2, role: 'assistant', content: 'x '.repeat(50_000) }),
  ]
  const context = buildContext(inputOf(messages, { budget: 1_000 }))
  expect(String(context.messages[2]?.['content'])).toContain('[recall:msg-00000002]')
  expect(context.tokensUsed).toBeLessThanOrEqual(1_000)
})

test('a budget above the model window is limited to the window, and the receipt says so, also for an unknown model', () => {
  const messages = [sampleMessage({ seq: 1 })]
  const context = buildContext(inputOf(messages, { budget: 1_000_000, model: 'nobody-knows-1' }))
  expect(context.budget).toBe(195_904)
  expect(context.receipt.notes).toEqual([expect.stringContaining('nobody-knows-1'), expect.stringContaining('195904')])
})

test.each(['sandwich', 'full-history'] as const)(
  'a budget that is too small for %s is refused, and the error names one that works',
  (strategy) => {
    const messages = Array.from({ length: 30 }, (_, index) =>
      sampleMessage({
        seq: index + 1,
        content: 'word '.repeat(40 + index * 20),
        role: index % 2 ? 'assistant' : 'user',
      }),
    )
    const figures = [1, 20, 60].map((budget) => {
      const refused = built(inputOf(messages, { budget, strategy }))
      if (!(refused instanceof HeddleError)) throw new Error('expected the budget to be refused')
      const needed = Number(refused.facts?.['needed'])
      expect(built(inputOf(messages, { budget: needed, strategy }))).not.toBeInstanceOf(HeddleError)
      return needed
    })
    expect(Math.max(...figures)).toBeLessThan(Math.min(...figures) * 1.3)
  },
)

test('calls that were never answered and results without a call are made valid and named', () => {
  const messages = [
    sampleMessage({ seq: 1, role: 'tool_result', toolCallId: 'gone', content: 'late answer' }),
    sampleMessage({ seq: 2, role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'Read', arguments: {} }] }),
    sampleMessage({ seq: 3, content: 'never mind' }),
  ]
  const context = buildContext(inputOf(messages, { budget: 5_000 }, 'anthropic'))
  expect(validateAnthropic(context as never)).toEqual([])
  expect(context.receipt.entries.map((entry) => entry.mode)).toContain('result-as-text')
  expect(context.receipt.notes).toHaveLength(2)
})

test('a result that sorts before its call is placed after it, once', () => {
  const messages = [
    sampleMessage({ seq: 1, role: 'tool_result', toolCallId: 'a', content: 'the answer' }),
    sampleMessage({ seq: 2, role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'Read', arguments: {} }] }),
  ]
  const context = buildContext(inputOf(messages, { budget: 5_000 }))
  expect(context.messages.map((message) => message['role'])).toEqual(['system', 'assistant', 'tool_result'])
  expect(context.receipt.eligible).toBe(2)
})

test('a thread without messages and a request without one is refused', () => {
  const build = (imported: number) => () => buildContext({ ...inputOf([], { budget: 1_000 }), imported })
  const refused = { message: 'Conversation has no messages', field: 'messages' }
  expect(build(0)).toThrow(expect.objectContaining({ ...refused, hint: expect.stringContaining('append') }))
  expect(build(3)).toThrow(expect.objectContaining({ ...refused, hint: expect.stringContaining('clear') }))
})

describe('an old failed call that shares its message with text', () => {
  const input = { file_path: '/repo/a.ts', old_string: 'word '.repeat(200), new_string: 'x' }
  const failed = (fields: Partial<Message> = {}) => [
    sampleMessage({ seq: 1, content: 'Please change it.' }),
    sampleMessage({
      seq: 2,
      role: 'assistant',
      content: 'I try an edit.',
      toolCalls: [{ id: 'call-1', name: 'Edit', arguments: input }],
      ...fields,
    }),
    sampleMessage({
      seq: 3,
      role: 'tool_result',
      toolCallId: 'call-1',
      content: `String to replace not found in file. ${'Look again. '.repeat(60)}`,
      isError: true,
    }),
    ...Array.from({ length: 20 }, (_, index) =>
      sampleMessage({ seq: 4 + index, role: index % 2 === 0 ? 'user' : 'assistant', content: 'talk '.repeat(60) }),
    ),
  ]
  const settings = { budget: 2_600, sandwich: { compressionThreshold: 1 } }
  const contextOf = (messages: readonly Message[], format: FormatName = 'openai-chat') => {
    const context = built(inputOf(messages, settings, format))
    if (context instanceof HeddleError) throw context
    return context
  }

  test('is marked as failed and sent without its input, which can be recalled', () => {
    const { messages, receipt } = contextOf(failed())
    const sent = JSON.stringify(messages)
    expect(sent).toContain('I try an edit.')
    expect(sent).toContain('old result of a failed call, failed: String to replace not found')
    expect(sent).not.toContain('word word')
    expect(sent).toContain('[recall:msg-00000002:tool-1]')
    const entry = receipt.entries.find(({ fromSeq }) => fromSeq === 2)
    expect(entry).toMatchObject({ mode: 'elided', reason: 'input of an old failed call' })
    expect(validateOpenAiChat(messages as never)).toEqual([])
  })

  test('is kept byte for byte beside signed reasoning', () => {
    const { messages, receipt } = contextOf(failed({ thinking: [{ text: 'Hm.', signature: 'signed' }] }), 'anthropic')
    expect(JSON.stringify(messages)).toContain('word word')
    expect(receipt.entries.find(({ fromSeq }) => fromSeq === 2)?.mode).toBe('raw')
  })
})

describe('for the call of the model, a context has', () => {
  const [asked, replied] = [sampleMessage({ seq: 1 }), sampleMessage({ seq: 2, role: 'assistant' })]

  test('the settings of the agent, with the tokens that are left for the answer', () => {
    const settings = { temperature: 0.2, topP: 0.9, maxChatTurns: 3, toolPermission: 'always' as const }
    const context = buildContext(inputOf([asked], { ...settings, model: 'gpt-4', maxOutputTokens: 8_000 }))
    expect(context.settings).toEqual({ ...settings, model: 'gpt-4', maxOutputTokens: 4_096 })
    expect(buildContext(inputOf([asked], {})).settings).toMatchObject({ temperature: null, toolPermission: 'tool' })
  })

  test('the turns taken since the user spoke, none for a new message, and a note at the limit', () => {
    const limit = 'the limit of 1 chat turns is reached: 1 were taken'
    const context = buildContext(inputOf([asked, replied], { maxChatTurns: 1 }))
    expect(context).toMatchObject({ turns: { taken: 1, max: 1 }, receipt: { notes: [limit] } })
    const anew = inputOf([asked, replied], { maxChatTurns: 1 }, 'neutral', {
      request: { thread: 'run', message: 'And?' },
    })
    expect(buildContext(anew)).toMatchObject({ turns: { taken: 0, max: 1 }, receipt: { notes: [] } })
    expect(buildContext(inputOf([replied], {}, 'neutral', { turnsBefore: 4 })).turns).toEqual({ taken: 5, max: null })
  })
})
