import fc from 'fast-check'
import { expect, test } from 'vitest'
import { writeUtf8 } from './utf8.js'

test('the bytes of any text are those of an encoder, also with lone surrogates', () => {
  const units = fc.array(fc.oneof(fc.nat(0xffff), fc.integer({ min: 0xd7f0, max: 0xe010 }), fc.nat(0x90)), {
    maxLength: 40,
  })
  fc.assert(
    fc.property(units, (codes) => {
      const text = String.fromCharCode(...codes)
      const bytes = new Uint8Array(3 * text.length)
      expect([...bytes.subarray(0, writeUtf8(text, bytes))]).toEqual([...new TextEncoder().encode(text)])
    }),
    { numRuns: 2_000 },
  )
})
