import { formats } from '@heddle/contracts'
import { modelMessageSchema } from 'ai'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { validateContext } from '../../../../test/support/src/validators/index.js'
import { countTokens, estimateTokens } from '../tokens/tokens.js'
import {
  besideRendered,
  checkWellFormed,
  countFrame,
  countNeutralMessage,
  countRendered,
  countSystem,
  formatFaults,
  fromRendered,
  render,
} from './index.js'
import type { NeutralMessage } from './neutral-message.js'

const counters = { o200k: countTokens, characters: estimateTokens }

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom('', ' ', '\n\t\u0000', 'done. \n', '\ud83d', 'a\u001f', '</system-note>', 'x\u00a0'),
)
const ids = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
  fc.constantFrom('toolu_01', 'call.1', 'call_1', `heddle_${'0'.repeat(32)}`, 'x'.repeat(41), 'x'.repeat(512)),
)
const names = fc.oneof(fc.string({ minLength: 1, maxLength: 200 }), fc.constantFrom('Read', 'mcp__a.b:c', '読む', '-'))
const callArguments = fc.oneof(
  texts,
  fc.json({ maxDepth: 3 }),
  fc.constantFrom(
    '{"a": 1 }',
    '{"broken": ',
    '[1]',
    'null',
    '{"half":"\\ud83d"}',
    `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  ),
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })) as fc.Arbitrary<Record<string, never>>,
)
const thinking = fc.array(
  fc.record({ text: texts, signature: fc.string(), redacted: fc.string() }, { requiredKeys: ['text'] }),
  { maxLength: 3 },
)
const plain = fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), content: texts, thinking })
const calling = fc.record({
  content: texts,
  thinking,
  calls: fc.array(fc.record({ name: names, arguments: callArguments, result: texts, isError: fc.boolean() }), {
    minLength: 1,
    maxLength: 4,
  }),
})

/** Lists that are well formed by construction: each group of calls is followed by its results. */
const wellFormedLists = fc
  .tuple(fc.array(fc.oneof(plain, calling), { maxLength: 12 }), fc.uniqueArray(ids, { minLength: 48, maxLength: 48 }))
  .map(([parts, freshIds]) => {
    const unused = [...freshIds]
    return parts.flatMap((part): NeutralMessage[] => {
      if (!('calls' in part)) return [part as NeutralMessage]
      const called = part.calls.map((call) => ({ ...call, id: unused.pop() ?? '' }))
      return [
        {
          role: 'assistant',
          content: part.content,
          thinking: part.thinking,
          toolCalls: called.map((call) => ({ id: call.id, name: call.name, arguments: call.arguments })),
        },
        ...called.map(
          (call): NeutralMessage => ({
            role: 'tool_result',
            content: call.result,
            toolCallId: call.id,
            toolName: call.name,
            isError: call.isError,
          }),
        ),
      ]
    })
  })

test.each(formats)('every well-formed list becomes messages of %s that providers accept', (format) => {
  fc.assert(
    fc.property(wellFormedLists, fc.array(fc.nat({ max: 40 }), { maxLength: 3 }), (list, ends) => {
      expect(checkWellFormed(list)).toEqual([])
      const rendered = render(format, list, { stableEnds: ends.toSorted((left, right) => left - right) })
      expect(validateContext({ format, ...rendered })).toEqual([])
      expect(formatFaults(format, rendered)).toEqual([])
    }),
    { numRuns: propertyRuns(250) },
  )
})

test('the AI SDK reads its own format', () => {
  fc.assert(
    fc.property(wellFormedLists, (list) => {
      for (const message of render('ai-sdk', list).messages) modelMessageSchema.parse(message)
    }),
    { numRuns: propertyRuns(300) },
  )
})

test.each(formats)('from %s the same messages are restored, with the data kept beside them', (format) => {
  fc.assert(
    fc.property(wellFormedLists, (list) => {
      const given = structuredClone(list)
      const back = fromRendered(format, render(format, list), besideRendered(format, list))
      expect(JSON.parse(JSON.stringify(back))).toEqual(JSON.parse(JSON.stringify(given)))
    }),
    { numRuns: propertyRuns(250) },
  )
})

test('features that providers support need no data beside the messages', () => {
  const list: NeutralMessage[] = [
    { role: 'system', content: 'You write code.' },
    { role: 'user', content: 'Read two files.' },
    {
      role: 'assistant',
      content: 'Now.',
      thinking: [{ text: 'two', signature: 's' }],
      toolCalls: [
        { id: 'a', name: 'Read', arguments: { path: 'x' } },
        { id: 'b', name: 'Read', arguments: { path: 'y' } },
      ],
    },
    { role: 'tool_result', content: '1', toolCallId: 'a', toolName: 'Read' },
    { role: 'tool_result', content: 'gone', toolCallId: 'b', toolName: 'Read', isError: true },
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Go on.' },
  ]
  expect(besideRendered('ai-sdk', list).fields).toEqual(list.map(() => null))
  expect(besideRendered('anthropic', list).fields.map((kept) => kept && Object.keys(kept))).toEqual(
    list.map(({ role }) => (role === 'tool_result' ? ['toolName'] : null)),
  )
})

test('filling a budget with the costs of single messages never exceeds the count of the rendered list', () => {
  fc.assert(
    fc.property(
      wellFormedLists,
      fc.constantFrom(...formats),
      fc.constantFrom('o200k', 'characters'),
      (list, format, name) => {
        const count = counters[name]
        const rendered = render(format, list)
        const cost = countRendered(rendered.messages, count) + countSystem(rendered.system, count)
        const bound = list.reduce(
          (sum, message) => sum + countNeutralMessage(format, message, count),
          countFrame(format, count),
        )
        expect(bound).toBeGreaterThanOrEqual(cost)
      },
    ),
    { numRuns: propertyRuns(500) },
  )
})

test('the count of a rendered list covers every text in its JSON', () => {
  const plainCount = (value: unknown): number => {
    if (typeof value === 'string') return countTokens(value)
    return typeof value === 'object' && value !== null
      ? Object.values(value).reduce((sum, field) => sum + plainCount(field), 0)
      : 0
  }
  fc.assert(
    fc.property(wellFormedLists, fc.constantFrom(...formats), (list, format) => {
      const { messages } = render(format, list)
      // Roles and types are among the texts: the overhead of each message and block covers them.
      expect(countRendered(messages, countTokens)).toBeGreaterThanOrEqual(plainCount(messages))
    }),
    { numRuns: propertyRuns(250) },
  )
})

test('rendering is deterministic and does not modify the list', () => {
  fc.assert(
    fc.property(wellFormedLists, fc.constantFrom(...formats), (list, format) => {
      const before = structuredClone(list)
      expect(render(format, list)).toEqual(render(format, list))
      expect(list).toEqual(before)
    }),
    { numRuns: propertyRuns(200) },
  )
})
