import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { proseSentences } from '../speech/sentences.js'
import { sentencesFault } from '../speech/snapshot-sentences.js'
import type { SummarySource } from '../speech/source.js'
import { summarizeExtractively } from '../summarizing/summarize.js'
import { countTokens } from '../tokens/tokens.js'

const TOKENS_MAX = 110

const source = (text: string, more: Partial<SummarySource> = {}): SummarySource => ({
  reference: '',
  role: 'user',
  text,
  toolName: null,
  isError: false,
  pinned: false,
  orderedAtMs: 0,
  ...more,
})

const summarize = (messages: readonly SummarySource[], tokensMax = TOKENS_MAX) =>
  summarizeExtractively({ purpose: 'snapshot', messages, previousSummary: null, tokensMax })

const talk = [
  source('The login fails with a 401 after the token refresh. Please find out why.'),
  source('I decided to look at src/auth.ts first. The refresh returns the old token.', { role: 'assistant' }),
  source('Good. And what about e.g. the sign-up page?'),
  source('I will fix refresh() in src/auth.ts tomorrow. The sign-up page is not affected: it has no token.', {
    role: 'assistant',
  }),
]

describe('the summary of a snapshot that is made without a model', () => {
  it('has the weightiest sentences that were said, each on its line', () => {
    const lines = summarize(talk).split('\n')
    expect(lines.length).toBeGreaterThanOrEqual(2)
    expect(lines.length).toBeLessThanOrEqual(4)
    expect(lines[0]).toBe('The login fails with a 401 after the token refresh.')
  })

  it('describes a window in which nothing was said', () => {
    expect(summarize([source('{"a": 1}', { role: 'tool_result' })])).toBe(
      'The window has one message.\nThe last one is of a tool.',
    )
    expect(summarize([source('hello')])).toBe('hello.\nThe window has one message.')
  })

  it('has two to four sentences within its tokens, whatever was said', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.lorem({ mode: 'sentences', maxCount: 30 }),
      fc.constantFrom(
        '今天我们修好了登录。明天继续。还有什么？',
        'Dr. No. 1. 2. 3.',
        '# Heading',
        'I decided: no.',
        '…',
        'A.B.C. D. E',
      ),
      fc
        .array(
          fc.constantFrom(
            'We chose',
            'I will',
            '.',
            '! ',
            '?',
            '\n',
            '- ',
            '1. ',
            'src/a.ts',
            'Failed: ',
            '"',
            ')',
            '。',
            'é',
          ),
        )
        .map((parts) => parts.join(' ')),
    )
    const messages = fc.array(
      fc.record({
        text: texts,
        role: fc.constantFrom('user', 'assistant', 'tool_result', 'system'),
        pinned: fc.boolean(),
      }),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(messages, fc.integer({ min: 60, max: 250 }), (said, tokensMax) => {
        const summary = summarize(
          said.map(({ text, ...more }) => source(text, more as Partial<SummarySource>)),
          tokensMax,
        )
        expect(sentencesFault(summary)).toBeNull()
        expect(countTokens(summary)).toBeLessThanOrEqual(tokensMax)
      }),
      { numRuns: 500 },
    )
  })
})

describe('sentences of a summary', () => {
  it.each([
    ['One. Two.', 2],
    ['They moved the service to Postgres 18.2 in src/db.ts, e.g. the pool. Tests pass.', 2],
    ['## Summary\n- They chose Postgres.\n- It works.\n- Tests are missing.', 3],
    ['Summary:\nThey chose Postgres.', 1],
    ['他们选择了数据库。测试通过了。', 2],
    ['они выбрали базу. Тесты прошли.', 2],
    ['اختاروا قاعدة البيانات. نجحت الاختبارات.', 2],
    ['- - -', 0],
  ])('of %j are %i', (text, count) => {
    expect(proseSentences(text)).toHaveLength(count)
  })

  it('are too few or too many with a reason that quotes nothing', () => {
    expect(sentencesFault('Secret.')).toBe('it has 1 sentence, and the summary of a snapshot has 2 to 4')
    expect(sentencesFault('Some. Way. Is. This. Short.')).toContain('it has 5 sentences')
    expect(sentencesFault('One is done. Two is not.')).toBeNull()
  })
})
