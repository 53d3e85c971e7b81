import { finish, selectLines } from '@heddle/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { storeOfTests } from '../store/support.js'
import { archive, clientOn } from './support.js'

const database = storeOfTests()

const recalled = (ref: string, fields: object) => clientOn(database).recall({ ref, thread: 'cloth', ...fields })

test('a recall of a long content returns the same lines as of the whole, however little of it is read', async () => {
  const line = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom('', 'short', 'é漢😀 wide', 'half \ud83d', '\r') },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 300_000 }).map((length) => '漢x'.repeat(length / 2)) },
  )
  const long = fc.array(line, { minLength: 1, maxLength: 12 }).map((lines) => `${lines.join('\n')}\n`.repeat(6))
  const place = fc.nat({ max: 80 })
  await fc.assert(
    fc.asyncProperty(long, fc.boolean(), place, place, async (text, isOpen, one, other) => {
      const whole = isOpen ? `${text}end` : text
      const { ref } = await archive(database, whole)
      const lines = `${Math.min(one, other) + 1}-${Math.max(one, other) + 1}`
      const expected = (() => {
        try {
          return finish(selectLines(whole, lines))
        } catch (error) {
          return error as Error
        }
      })()
      const got = await recalled(ref, { lines, maxTokens: 5_000_000 }).catch((error: Error) => error)
      if (expected instanceof Error) expect(got).toMatchObject({ message: expected.message })
      else expect(got).toMatchObject({ content: expected.text, linesTotal: expected.linesTotal, truncated: false })
      expect(await recalled(ref, { lines: '1', search: 'no line holds this' })).toMatchObject({ matchCount: 0 })
    }),
    { numRuns: 30 },
  )
}, 120_000)
