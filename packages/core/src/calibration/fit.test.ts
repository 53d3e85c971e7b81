import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CountedRequest, FIT_SAMPLES_MIN, fitCounts, predictCount } from './fit.js'
import { reportedInput } from './reported.js'

const growing = (count: number, { ratio, offset }: { ratio: number; offset: number }): CountedRequest[] =>
  Array.from({ length: count }, (_, turn) => {
    const counted = 1_000 + turn * 700
    return { counted, reported: Math.round(offset + ratio * counted) }
  })

describe('a fit of counts', () => {
  test('finds the ratio of a tokenizer and what is sent besides', () => {
    const fit = fitCounts(growing(40, { ratio: 1.42, offset: 9_000 }))
    expect(fit?.ratio).toBeCloseTo(1.42, 2)
    expect(fit?.offset).toBeGreaterThan(8_950)
    expect(fit?.offset).toBeLessThan(9_050)
    expect(fit?.margin).toBeCloseTo(0.05, 2)
    expect(predictCount(fit ?? { ratio: 0, offset: 0 }, 30_000)).toBeCloseTo(9_000 + 1.42 * 30_000, -2)
  })

  test('needs 20 requests with a plausible report', () => {
    const requests = growing(FIT_SAMPLES_MIN, { ratio: 1.2, offset: 0 })
    expect(fitCounts(requests.slice(1))).toBeNull()
    expect(fitCounts(requests)).not.toBeNull()
    const wrong = [0, -5, Number.NaN, Number.POSITIVE_INFINITY, 1e12, 1.5, 3].map((reported) => ({
      counted: 10_000,
      reported,
    }))
    expect(fitCounts([...requests.slice(wrong.length), ...wrong])).toBeNull()
  })

  test('is not moved by reports that are wrong, however wrong they are', () => {
    const real = growing(60, { ratio: 1.3, offset: 4_000 })
    const wrong = fc.constantFrom(0, -1_000_000, 1, 9_000_000, 19_999_999, Number.NaN)
    const places = fc.uniqueArray(fc.nat(59), { maxLength: 3 })
    fc.assert(
      fc.property(places, fc.array(wrong, { minLength: 3, maxLength: 3 }), (at, reports) => {
        const requests = real.map((request, index) => {
          const place = at.indexOf(index)
          return place < 0 ? request : { ...request, reported: reports[place] ?? 0 }
        })
        const fit = fitCounts(requests)
        expect(fit?.ratio).toBeCloseTo(1.3, 1)
        expect(Math.abs((fit?.offset ?? 0) - 4_000)).toBeLessThan(2_000)
        expect(fit?.margin).toBeLessThanOrEqual(0.25)
      }),
    )
  })

  test('is bounded for any reports', () => {
    const request = fc.record({ counted: fc.integer({ min: -5, max: 500_000 }), reported: fc.double() })
    fc.assert(
      fc.property(fc.array(request, { minLength: 20, maxLength: 80 }), (requests) => {
        const fit = fitCounts(requests)
        if (fit === null) return
        expect(fit.ratio).toBeGreaterThanOrEqual(1)
        expect(fit.ratio).toBeLessThanOrEqual(4)
        expect(fit.offset).toBeGreaterThanOrEqual(0)
        expect(fit.margin).toBeGreaterThanOrEqual(0.05)
        expect(fit.margin).toBeLessThanOrEqual(0.25)
      }),
    )
  })

  test('follows a client that sends other tools from one request on', () => {
    const before = growing(40, { ratio: 1.3, offset: 4_000 })
    const after = growing(60, { ratio: 1.3, offset: 20_000 }).slice(40, 50)
    expect(fitCounts([...before, ...after])?.offset).toBeGreaterThan(15_000)
  })
})

test("a provider's count includes its cache, in the spelling of each provider", () => {
  const anthropic = {
    input_tokens: 3,
    cache_read_input_tokens: 900,
    cache_creation_input_tokens: 97,
    output_tokens: 50,
  }
  expect(reportedInput(anthropic)).toBe(1_000)
  expect(reportedInput({ prompt_tokens: 1_000, prompt_tokens_details: { cached_tokens: 900 } })).toBe(1_000)
  expect(reportedInput({ input_tokens: '1000', prompt_tokens: -3 })).toBe(0)
})
