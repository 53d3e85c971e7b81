import { ingestJobSchema, limits, type PlacedMessage } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JSON_CHARACTERS_PER_JOB, MESSAGES_PER_JOB, measure, split } from './split-append.js'

const id = '018f0000-0000-7000-8000-000000000000'

function placed(content: string, metadata?: PlacedMessage['message']['metadata']): PlacedMessage {
  return {
    message: { id, role: 'user', content, metadata },
    ordinal: 0,
    orderedAt: '2026-02-12T14:30:00.000Z',
  }
}

test('jobs keep the order, fit the schema of jobs, and have no more JSON than one round trip takes', () => {
  const text = fc.integer({ min: 0, max: 3_000_000 }).map((length) => '\u0000'.repeat(length))
  const message = fc.tuple(fc.constantFrom('', 'a'), fc.oneof(fc.constant(''), text), fc.constantFrom(0, 1, 400_000))
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), fc.integer({ min: 0, max: 250 }), (large, small) => {
      const messages = [
        ...large.map(([content, long, blob]) => placed(content + long, { blob: 'x'.repeat(blob) })),
        ...Array.from({ length: small }, (_, index) => placed(String(index))),
      ]
      const parcels = split(messages.map((each, index) => measure(each, `messages.${index}`)))
      expect(parcels.flatMap((parcel) => parcel.messages)).toEqual(messages)
      for (const { messages: some, jsonCharacters } of parcels) {
        const job = { projectId: id, requestId: id, agent: 'a', thread: 't', messages: some }
        expect(ingestJobSchema.safeParse(job).success).toBe(true)
        expect(some.length).toBeLessThanOrEqual(MESSAGES_PER_JOB)
        if (some.length > 1) expect(jsonCharacters).toBeLessThanOrEqual(JSON_CHARACTERS_PER_JOB)
        expect(JSON.stringify(job).length).toBeLessThanOrEqual(limits.jobJsonCharactersMax)
      }
    }),
    { numRuns: 12 },
  )
})

test('metadata counts: many messages with large metadata become several jobs', () => {
  const messages = Array.from({ length: 10 }, () => placed('hello', { blob: 'x'.repeat(3_000_000) }))
  const parcels = split(messages.map((each) => measure(each, 'messages.0')))
  expect(parcels.map((parcel) => parcel.messages.length)).toEqual([2, 2, 2, 2, 2])
})

test('a message whose metadata is too large for a job is refused by name; the error does not show it', () => {
  const metadata = { blob: 'x'.repeat(limits.messageJsonCharactersMax) }
  expect(() => measure(placed('hello', metadata), 'messages.7')).toThrow(
    expect.objectContaining({
      code: 'PAYLOAD_TOO_LARGE',
      field: 'messages.7',
      received: expect.stringMatching(/^\d+ characters$/),
      hint: expect.stringContaining('metadata'),
    }),
  )
})

test('the largest allowed message fits into a job with the longest names', () => {
  const message = placed('', { blob: '' })
  const room = limits.messageJsonCharactersMax - JSON.stringify(message).length
  const largest = placed('', { blob: 'x'.repeat(room) })
  expect(measure(largest, 'messages.0').jsonCharacters).toBe(limits.messageJsonCharactersMax)
  const name = '\u2028'.repeat(limits.nameCharactersMax)
  const job = { projectId: id, requestId: id, replyTo: 'r'.repeat(100), agent: name, thread: name, messages: [largest] }
  expect(JSON.stringify(job).length).toBeLessThanOrEqual(limits.jobJsonCharactersMax)
})
