import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { iterationFingerprint, placedFingerprint } from '../conversation/fingerprint.js'
import { truncateIteration } from './iteration.js'

describe('an iteration in a context', () => {
  test('shows 500 characters of its prompt and 5,000 of its output', () => {
    const cut = truncateIteration({ prompt: 'p'.repeat(501), output: 'o'.repeat(5_001), progressScore: 0.5 })
    expect(cut).toEqual({ prompt: 'p'.repeat(500), output: 'o'.repeat(5_000), progressScore: 0.5 })
  })

  test('is unchanged if it is short or empty', () => {
    const iteration = { prompt: '', output: '', progressMarkers: [] }
    expect(truncateIteration(iteration)).toEqual(iteration)
    const full = { prompt: 'p'.repeat(500), output: 'o'.repeat(5_000) }
    expect(truncateIteration(full)).toEqual(full)
  })

  test('is never cut inside a surrogate pair', () => {
    const text = fc.array(fc.constantFrom('a', '😀', '👩‍💻', 'ä', '\n'), { minLength: 100, maxLength: 6_000 })
    fc.assert(
      fc.property(text, (parts) => {
        const whole = parts.join('')
        const cut = truncateIteration({ prompt: whole, output: whole })
        for (const [shown, most] of [
          [cut.prompt, 500],
          [cut.output, 5_000],
        ] as const) {
          expect(shown.isWellFormed()).toBe(true)
          expect(whole.startsWith(shown)).toBe(true)
          expect(shown.length).toBeGreaterThanOrEqual(Math.min(whole.length, most - 1))
          expect(shown.length).toBeLessThanOrEqual(most)
        }
      }),
      { numRuns: 50 },
    )
  })
})

test('the fingerprint covers what the producer sent, but not the spelling of times or who assigned the number', () => {
  const iteration = { id: 'a', prompt: 'p', output: 'o', timestamp: '2026-02-12T14:30:00Z' }
  const of = (fields: object) => iterationFingerprint({ ...iteration, ...fields })
  expect(of({ timestamp: '2026-02-12T15:30:00+01:00', iterationNumber: 7 })).toBe(of({}))
  expect(of({ output: 'other' })).not.toBe(of({}))
  expect(of({ progressScore: 0 })).not.toBe(of({}))
  const message = { id: 'a', role: 'assistant' as const, content: 'o', sentAt: '2026-02-12T14:30:00Z' }
  const placed = (fields: object) => placedFingerprint({ message, iteration: { prompt: 'p', ...fields } })
  expect(placed({ iterationNumber: 7 })).toBe(of({}))
  expect(placed({ progressScore: 0 })).toBe(of({ progressScore: 0 }))
})
