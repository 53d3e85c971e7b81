import type { ContextResult, ReceiptEntry } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { builtOrRefused } from '../../../../test/support/src/samples/context-faults.js'
import { conversationOf, conversationSteps } from '../../../../test/support/src/samples/conversations.js'
import { simulatedInput } from '../../../../test/support/src/samples/simulated-input.js'
import { SimulatedThread } from '../../../../test/support/src/samples/simulated-thread.js'
import { finish } from '../recall/steps.js'
import { diffContexts } from './index.js'
import { longestRising } from './longest-rising.js'

const absent = ['covered', 'removed', 'left-out']
const shownSeqs = ({ receipt }: ContextResult) =>
  receipt.entries.filter(({ mode }) => !absent.includes(mode)).flatMap(({ fromSeq }) => fromSeq ?? [])

/** Two contexts of a thread that grew and was compacted in between. */
const pairs = fc.tuple(conversationSteps(25), conversationSteps(25)).map(([before, after]): ContextResult[] => {
  const thread = new SimulatedThread({ budget: 1_500 })
  const messages = conversationOf([...before, ...after])
  return [Math.ceil(messages.length / 2), messages.length].flatMap((until, index) => {
    for (const message of messages.slice(thread.stored.length, until)) thread.arrive(message)
    thread.settle()
    const built = builtOrRefused(simulatedInput(thread, { format: 'openai-chat' }))
    return built instanceof Error ? [] : [{ id: `0000000${index}-0000-7000-8000-000000000000`, ...built }]
  })
})

describe('the difference of two contexts', () => {
  test('is empty for equal contexts', () => {
    fc.assert(
      fc.property(pairs, ([context]) => {
        if (context === undefined) return
        const diff = finish(diffContexts(context, context))
        expect([diff.cameIn, diff.wentOut, diff.changed, diff.moved, diff.settings]).toEqual([[], [], [], [], []])
        expect(diff.delivered.same).toBe(diff.delivered.before)
      }),
      { numRuns: 30 },
    )
  })

  test('transforms one context into the other, and is reversed in the other direction', () => {
    fc.assert(
      fc.property(pairs, ([before, after]) => {
        if (before === undefined || after === undefined) return
        const diff = finish(diffContexts(before, after))
        const shown = new Set(shownSeqs(before))
        for (const { seq } of diff.wentOut) if (seq !== undefined) expect(shown.delete(seq)).toBe(true)
        for (const { seq = 0 } of diff.cameIn.filter(({ seq }) => seq !== undefined)) {
          expect(shown.has(seq)).toBe(false)
          shown.add(seq)
        }
        expect([...shown].sort()).toEqual(shownSeqs(after).sort())
        const sum = (of: 'before' | 'after') => diff.sections.reduce((total, section) => total + section[of], 0)
        const listed = ({ receipt }: ContextResult) => receipt.sections.reduce((total, { tokens }) => total + tokens, 0)
        expect([sum('before'), sum('after')]).toEqual([listed(before), listed(after)])
        const back = finish(diffContexts(after, before))
        expect(back.cameIn.map(({ what }) => what).sort()).toEqual(diff.wentOut.map(({ what }) => what).sort())
        expect(back.changed).toHaveLength(diff.changed.length)
        expect(back.moved).toHaveLength(diff.moved.length)
      }),
      { numRuns: 30 },
    )
  })

  test('names entries that changed their form or moved, and why others are gone', () => {
    const entry = (fromSeq: number, fields: Partial<ReceiptEntry> = {}): ReceiptEntry => {
      const shown = { section: 'history', mode: 'raw' as const, count: 1, tokens: 10, reason: 'recent', role: 'user' }
      return { ...shown, fromSeq, toSeq: fromSeq, reference: `msg-${fromSeq}`, ...fields }
    }
    const context = (id: string, entries: ReceiptEntry[]) =>
      ({
        id,
        thread: 'run',
        format: 'neutral',
        system: null,
        messages: [],
        tokensUsed: 10,
        receipt: { counter: 'o200k', clearEpoch: 0, eligible: 4, imported: 4, ineligible: {}, sections: [], entries },
      }) as unknown as ContextResult
    const before = context('a', [entry(1), entry(2), entry(3), entry(4)])
    const covered = { section: 'history', mode: 'covered' as const, count: 1, tokens: 0, reason: 'summarized' }
    const condensed = { mode: 'condensed' as const, tokens: 3, reason: 'an old result' }
    const diff = finish(diffContexts(before, context('b', [entry(3), entry(2, condensed), entry(4), covered])))
    expect(diff.changed).toMatchObject([
      { what: 'message msg-2', seq: 2, before: { mode: 'raw', tokens: 10 }, after: condensed },
    ])
    expect(diff.moved.map(({ seq }) => seq)).toHaveLength(1)
    expect(diff.wentOut).toMatchObject([{ seq: 1, before: { mode: 'raw' }, after: { mode: 'covered' } }])
    expect(diff.cameIn).toEqual([])
  })
})

test('the longest increasing subsequence is increasing, and there is no longer one', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 50 }), { maxLength: 10 }), (values) => {
      const rising = values.filter((_, place) => longestRising(values).has(place))
      expect(rising).toEqual([...rising].sort((left, right) => left - right))
      let longest = 0
      for (let mask = 0; mask < 1 << values.length; mask++) {
        const part = values.filter((_, place) => (mask >> place) & 1)
        if (part.every((value, place) => place === 0 || (part[place - 1] ?? 0) < value))
          longest = Math.max(longest, part.length)
      }
      expect(rising).toHaveLength(longest)
    }),
  )
})
