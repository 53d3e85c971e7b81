import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SummarySource } from '../speech/source.js'
import { countTokens } from '../tokens/tokens.js'
import { contentTokensMax, foldBounds, partSummaryTokensMax, partText, roughTokens, splitIntoParts } from './fold.js'

function source(text: string, reference = 'msg-aaaaaaaa'): SummarySource {
  return { reference, role: 'user', text, toolName: null, isError: false, pinned: false, orderedAtMs: 0 }
}

const costs = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 400 })
const rooms = fc.integer({ min: foldBounds.contentTokensMin, max: 20_000 })

describe('the parts of a fold', () => {
  test('contain every message once, in order, and are at most as many as allowed', () => {
    fc.assert(
      fc.property(costs, rooms, (each, room) => {
        const parts = splitIntoParts(each, room)
        expect(parts.length).toBeLessThanOrEqual(foldBounds.partsMax)
        expect(parts.flatMap(({ from, to }) => each.slice(from, to))).toEqual(each)
        expect(parts.every(({ from, to }) => from < to)).toBe(true)
      }),
    )
  })

  test('fit a call if they are at most as many as allowed', () => {
    fc.assert(
      fc.property(costs, rooms, (each, room) => {
        const parts = splitIntoParts(each, room)
        const isPacked = parts.length < foldBounds.partsMax
        for (const { from, to } of isPacked ? parts : []) {
          const tokens = each.slice(from, to).reduce((sum, cost) => sum + cost, 0)
          expect(tokens <= room || to - from === 1).toBe(true)
        }
      }),
    )
  })

  test('take at most the allowed calls, with the summaries of parts and retries of a quarter of them', () => {
    fc.assert(
      fc.property(
        fc.record({
          windowTokens: fc.integer({ min: 2_000, max: 2_000_000 }),
          tokensMax: fc.integer({ min: 50, max: 2_000 }),
          margin: fc.double({ min: 1, max: 1.6, noNaN: true }),
        }),
        (window) => {
          const content = contentTokensMax(window)
          const each = partSummaryTokensMax(content, window.tokensMax)
          let calls = 0
          for (let level: number = foldBounds.partsMax; level > 1; ) {
            calls += level
            level = Math.ceil(level / Math.max(2, Math.floor(content / (each + 12))))
          }
          expect(calls + 1).toBeLessThanOrEqual(foldBounds.callsMax * 0.8)
        },
      ),
    )
  })

  test('the text of a part never exceeds the limit of a call', () => {
    const texts = fc.array(
      fc.oneof(
        fc.string({ maxLength: 300 }),
        fc
          .constantFrom('word ', 'ü', '数据库', '{"a":1},', 'x')
          .chain((unit) => fc.integer({ min: 1, max: 3_000 }).map((times) => unit.repeat(times))),
      ),
      { minLength: 1, maxLength: 12 },
    )
    fc.assert(
      fc.property(texts, fc.integer({ min: foldBounds.contentTokensMin, max: 3_000 }), (given, content) => {
        expect(
          countTokens(
            partText(
              given.map((text) => source(text)),
              content,
            ),
          ),
        ).toBeLessThanOrEqual(content)
      }),
      { numRuns: 60 },
    )
  })

  test('messages that fit are included verbatim', () => {
    expect(partText([source('We chose Postgres.'), source('Go on.', '')], 400)).toBe(
      'user [recall:msg-aaaaaaaa]:\nWe chose Postgres.\n\nuser:\nGo on.',
    )
  })

  test('a message that alone is too large keeps both ends and its reference', () => {
    const text = partText([source(`begins here ${'and so on '.repeat(4_000)}ends here`, 'msg-bigbig88')], 500)
    expect(text).toMatch(
      /begins here[\s\S]*characters left out[\s\S]*ends here\n\[the whole message: recall:msg-bigbig88]/,
    )
  })

  test('the size of ordinary text is never underestimated', () => {
    for (const text of [
      'The quick brown fox jumps.',
      "const total = items.map((item) => item.price).join(', ') // line 12\n",
      '数据库迁移到星期五之前完成',
      'Grüße aus Köln',
    ]) {
      expect(roughTokens(text.repeat(50))).toBeGreaterThanOrEqual(countTokens(text.repeat(50)))
    }
  })
})
