import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stubText } from './stub-text.js'

describe('the text in place of a result', () => {
  test('has its first and last lines, lines about failures between them, and the reference', () => {
    const lines = Array.from({ length: 400 }, (_, index) =>
      index === 200 ? 'Error: port 5432 is in use' : `line ${index}`,
    )
    const text = stubText(lines.join('\n'), { reference: 'msg-abcdefgh', tokensBefore: 900, tokensMax: 100 })
    expect(text).toMatch(/\d+ of 400 lines left out by Heddle, 900 tokens in all/)
    expect(text).toContain('line 0\n')
    expect(text.endsWith('line 399')).toBe(true)
    expect(text).toContain('Error: port 5432 is in use')
    expect(text).toContain('[recall:msg-abcdefgh]')
  })

  test('is bounded and well-formed for any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 4_000 }),
        fc.integer({ min: 10, max: 200 }),
        (text, tokensMax) => {
          const stub = stubText(text, { reference: 'msg-abcdefgh', tokensBefore: 1, tokensMax })
          expect(stub.length).toBeLessThanOrEqual(tokensMax * 4 + 400)
          if (text.isWellFormed()) expect(stub.isWellFormed()).toBe(true)
        },
      ),
    )
  })
})
