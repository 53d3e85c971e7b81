import { atomKinds } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { finish } from '../recall/steps.js'
import type { SummarySource } from '../speech/source.js'
import { countTokens } from '../tokens/tokens.js'
import { AtomCollector, gateSummary, ledgerText, repairTokens } from './index.js'

function source(role: SummarySource['role'], text: string, index: number): SummarySource {
  const reference = `msg-aaaa${String(index).padStart(4, '0')}`
  return { reference, role, text, toolName: null, isError: false, pinned: false, orderedAtMs: 0 }
}

function atomsOf(texts: readonly string[]) {
  const collector = new AtomCollector()
  finish(collector.add(texts.map((text, index) => source(index % 2 === 0 ? 'user' : 'assistant', text, index))))
  return collector.result()
}

const atoms = atomsOf(['Never push to main. It must stay in src/parser.ts.', 'I will use `parseTabs` within 40 ms.'])
const gate = (summary: string, more: Partial<Parameters<typeof gateSummary>[0]> = {}) =>
  finish(gateSummary({ summary, tokensMax: 200, atoms, repair: new Set(atomKinds), last: 'msg-aaaa0001', ...more }))

describe('the gate', () => {
  test('adds what the summary lost, word for word, after the reference of the ledger', () => {
    const { summary, fates } = gate('They spoke about parsing.')
    expect(summary.split('\n')).toEqual([
      'They spoke about parsing.',
      '',
      'All details, line by line: [recall:msg-aaaa0001:ledger]',
      'Also said and done:',
      '- It must stay in src/parser.ts.',
      '- Never push to main.',
      '- I will use `parseTabs` within 40 ms.',
      '- src/parser.ts',
      '- 40 ms',
      '- parseTabs',
    ])
    expect(fates.lost).toEqual([])
  })

  test('leaves a summary alone that lost nothing of the kinds', () => {
    expect(gate('Never push to main.', { repair: new Set(['name']) }).summary).toBe('Never push to main.')
    expect(
      gate('Never push to main. It must stay in src/parser.ts.', { repair: new Set(['constraint']) }).summary,
    ).toBe('Never push to main. It must stay in src/parser.ts.')
  })

  test('what does not fit is one recall away', () => {
    const { summary, fates } = gate('They spoke about parsing.', { tokensMax: 32 })
    expect(countTokens(summary)).toBeLessThanOrEqual(32)
    expect(summary).toContain(':ledger]')
    expect(fates.lost).toEqual([])
    expect([...fates.kinds.values()].some(({ ledger }) => ledger > 0)).toBe(true)
  })

  test('without free tokens the summary stays as it is, and its losses are named', () => {
    const { summary, fates } = gate('They spoke.', { tokensMax: 4 })
    expect(summary).toBe('They spoke.')
    expect(fates.lost.length).toBeGreaterThan(0)
  })

  test('a summary never exceeds its tokens, and a repair never loses more', () => {
    const words = fc.constantFrom(
      'must',
      'src/a.ts',
      'never push it.',
      '12 ms',
      'parseTabs',
      'No, wrong.',
      '\n',
      '👍🏽',
    )
    const texts = fc.array(
      fc.array(words, { maxLength: 30 }).map((parts) => parts.join(' ')),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(texts, fc.string({ maxLength: 60 }), fc.integer({ min: 1, max: 120 }), (said, given, free) => {
        const all = atomsOf(said)
        const tokensMax = countTokens(given) + free
        const { summary, fates } = gate(given, { atoms: all, tokensMax })
        const { fates: before } = gate(given, { atoms: all, repair: new Set() })
        expect(countTokens(summary)).toBeLessThanOrEqual(tokensMax)
        expect(summary.startsWith(given.trimEnd())).toBe(true)
        expect(fates.lost.length).toBeLessThanOrEqual(before.lost.length)
      }),
    )
  })

  test('a fifth of a summary is set aside, and nothing of a short one', () => {
    expect([2_000, 100, 99, 50].map(repairTokens)).toEqual([400, 20, 0, 0])
  })
})

test('a ledger has a line for every detail, with the messages that have it', () => {
  expect(ledgerText(atoms).split('\n')).toEqual([
    'constraint: Never push to main. (msg-aaaa0000)',
    'constraint: It must stay in src/parser.ts. (msg-aaaa0000)',
    'decision: I will use `parseTabs` within 40 ms. (msg-aaaa0001)',
    'path: src/parser.ts (msg-aaaa0000)',
    'number: 40 ms (msg-aaaa0001)',
    'identifier: parseTabs (msg-aaaa0001)',
  ])
})
