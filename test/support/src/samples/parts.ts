import type { StoredPart } from '@heddle/contracts'
import { countMessageTokens, estimateTokens, type Message } from '@heddle/core'
import fc from 'fast-check'
import { conversations } from './conversations.js'

const hashes = fc.stringMatching(/^[0-9a-f]{64}$/)
const pixels = fc.integer({ min: 1, max: 6_000 })

/** Stored parts of every kind, from every source, with every media type that providers treat differently. */
export const storedParts: fc.Arbitrary<StoredPart> = fc.oneof(
  fc.record({
    type: fc.constant('image' as const),
    mediaType: fc.constantFrom('image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/tiff'),
    sha256: hashes,
    bytes: fc.integer({ min: 1, max: 20_000_000 }),
    width: pixels,
    height: pixels,
  }),
  fc.record(
    {
      type: fc.constant('image' as const),
      url: fc.constantFrom('https://example.com/a.png', `https://example.com/${'long/'.repeat(200)}`),
      detail: fc.constantFrom('auto' as const, 'low' as const, 'high' as const, 'original' as const),
    },
    { requiredKeys: ['type', 'url'] },
  ),
  fc.record(
    {
      type: fc.constant('document' as const),
      mediaType: fc.constantFrom('application/pdf', 'text/csv', 'application/zip'),
      sha256: hashes,
      bytes: fc.integer({ min: 1, max: 20_000_000 }),
      pages: fc.integer({ min: 1, max: 700 }),
      name: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }),
    },
    { requiredKeys: ['type', 'mediaType', 'sha256', 'bytes'] },
  ),
  fc.record({ type: fc.constant('document' as const), url: fc.constant('https://example.com/report.pdf') }),
  fc.record({
    type: fc.constantFrom('image' as const, 'document' as const),
    fileId: fc.constantFrom('file-abc123', 'file_011CPMx'),
  }),
  fc.record(
    {
      type: fc.constant('audio' as const),
      mediaType: fc.constantFrom('audio/wav', 'audio/mpeg', 'audio/ogg'),
      sha256: hashes,
      bytes: fc.integer({ min: 1, max: 20_000_000 }),
      seconds: fc.double({ min: 0, max: 3_600, noNaN: true }),
    },
    { requiredKeys: ['type', 'mediaType', 'sha256', 'bytes'] },
  ),
)

/** Parts of one message, each at some place of its content. */
export function partsOf(content: string): fc.Arbitrary<StoredPart[]> {
  const places = fc.array(fc.nat({ max: content.length }), { minLength: 1, maxLength: 4 })
  return fc.tuple(places, fc.array(storedParts, { minLength: 4, maxLength: 4 })).map(([given, parts]) =>
    given
      .toSorted((left, right) => left - right)
      .flatMap((offset, index) => {
        const part = parts[index]
        return part === undefined ? [] : [{ ...part, offset }]
      }),
  )
}

/** Conversations as agents produce them, some messages of which show images, documents and sounds. */
export function conversationsWithParts(stepsMax = 60): fc.Arbitrary<Message[]> {
  return conversations(stepsMax).chain((messages) =>
    fc.tuple(...messages.map((message) => fc.option(partsOf(message.content), { freq: 2 }))).map((given) =>
      messages.map((message, index) => {
        const parts = given[index]
        if (parts == null) return message
        const shown = { ...message, parts }
        return { ...shown, ...countMessageTokens(shown, estimateTokens) }
      }),
    ),
  )
}
