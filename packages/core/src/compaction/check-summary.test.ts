import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type PinnedFact, pinnedFacts, pinnedTokens, withPinnedFacts } from '../summarizing/pinned.js'
import { countTokens } from '../tokens/tokens.js'
import { checkSummary, summaryFault } from './check-summary.js'

const limits = { tokensMax: 200, replacedTokens: 1_000 }

describe('a summary is refused', () => {
  test.each([
    ['', 'empty'],
    [' \n\t', 'empty'],
    ['NONE', 'refusal'],
    ["I'm sorry, but I can't help with that.", 'refusal'],
    ['I am unable to summarize this.', 'refusal'],
    ['Could you please provide the conversation?', 'refusal'],
    ["You haven't provided any messages.", 'refusal'],
    ['There is nothing to summarize.', 'refusal'],
    ['<function_calls>', 'protocol'],
    ['{"tool_calls": [{"name": "bash"}]}', 'protocol'],
    ['```json\n{"name": "read_file", "arguments": {}}', 'protocol'],
    ['[TOOL_CALLS] [{"name": "x"}]', 'protocol'],
    ['Summarize this conversation excerpt concisely. Preserve:', 'instructions'],
    ['word '.repeat(300), 'the limit is 200'],
  ])('where it is %j', (summary, fault) => {
    expect(summaryFault(summary, limits)).toContain(fault)
    expect(() => checkSummary(summary, limits)).toThrow(/refused/)
  })

  test('where it is no shorter than what it replaces', () => {
    expect(summaryFault('They chose Postgres.', { tokensMax: 200, replacedTokens: 4 })).toContain('not shorter')
    expect(summaryFault('They chose Postgres.', { tokensMax: 200, replacedTokens: 0 })).toBeNull()
  })

  test('not when a message said it', () => {
    for (const summary of [
      '- I am sorry, said the user',
      'The user asked: "could you provide the logs?"',
      '## Decisions\n- Call {"name": "x"} is retried',
      'None of the tests failed.',
      'Noted: no messages were lost.',
    ]) {
      expect(summaryFault(summary, limits)).toBeNull()
    }
  })
})

const facts: fc.Arbitrary<PinnedFact[]> = fc
  .array(
    fc.record({
      text: fc.array(fc.constantFrom('BLUE-42', 'deploy', 'on', 'Friday', 'Grüße', '数据库'), { minLength: 1 }),
      reference: fc.constantFrom('', 'msg-aaaaaaaa', 'msg-bbbbbbbb'),
    }),
    { maxLength: 8 },
  )
  .map((all) =>
    pinnedFacts(
      all.map(({ text, reference }) => ({
        reference,
        role: 'user',
        text: text.join(' '),
        toolName: null,
        isError: false,
        pinned: true,
        orderedAtMs: 0,
      })),
    ),
  )

describe('pinned facts', () => {
  test('are kept whatever the summary omits, within the length reserved for them', () => {
    fc.assert(
      fc.property(facts, fc.lorem({ maxCount: 30 }), (pinned, summary) => {
        const tokensMax = countTokens(summary) + pinnedTokens(pinned) + 4
        const whole = withPinnedFacts(summary, pinned, tokensMax)
        expect(summaryFault(whole, { tokensMax, replacedTokens: 0, pinned })).toBeNull()
      }),
    )
  })

  test('that the summary contains are not repeated', () => {
    const pinned = [{ text: 'The launch code is BLUE-42.', reference: '' }]
    const summary = 'Decided: the **launch code** is blue 42, and so on.'
    expect(withPinnedFacts(summary, pinned, 100)).toBe(summary)
    expect(summaryFault('They spoke of codes.', { ...limits, pinned })).toContain('lost 1 of 1')
  })

  test('that are long are shortened to their beginning and their reference', () => {
    const [fact] = pinnedFacts([
      {
        reference: 'msg-aaaaaaaa',
        role: 'user',
        text: `Never touch the ledger. ${'Because of the audit. '.repeat(200)}`,
        toolName: null,
        isError: false,
        pinned: true,
        orderedAtMs: 0,
      },
    ])
    expect(fact?.text.length).toBeLessThanOrEqual(400)
    expect(withPinnedFacts('They talked.', fact ? [fact] : [], 30)).toBe(
      'They talked.\n\nPinned: [recall:msg-aaaaaaaa]',
    )
  })
})
