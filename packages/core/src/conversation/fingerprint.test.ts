import fc from 'fast-check'
import { expect, test } from 'vitest'
import { finish } from '../recall/index.js'
import { messageFingerprint, placedFingerprint, placedFingerprintSteps } from './fingerprint.js'

const piece = fc.constantFrom('"', '\\', '\0', '\n', '\ud83d', '\ude00', '😀', 'a', '中')
const content = fc.array(piece, { minLength: 1, maxLength: 12 }).map((parts) => parts.join('').repeat(20_000))

test('the fingerprint of a message with long texts is the same when computed with pauses', () => {
  fc.assert(
    fc.property(content, (text) => {
      const message = {
        id: 'a',
        role: 'assistant' as const,
        content: text,
        sentAt: '2026-01-01T00:00:00Z',
        toolCalls: [{ id: 'c', name: 'write', arguments: { z: text, a: [1, null, { deep: text }] } }],
        metadata: { b: 1, a: undefined as never },
      }
      expect(finish(placedFingerprintSteps({ message }))).toBe(messageFingerprint(message))
      const iteration = { prompt: text, iterationNumber: 7 }
      expect(finish(placedFingerprintSteps({ message, iteration }))).toBe(placedFingerprint({ message, iteration }))
      if (text.length > 40_000) expect(placedFingerprintSteps({ message }).next().done).toBe(false)
    }),
    { numRuns: 10 },
  )
})
