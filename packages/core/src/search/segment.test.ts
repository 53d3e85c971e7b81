import fc from 'fast-check'
import { expect, test } from 'vitest'
import { kindTerm } from './document.js'
import { lengthOf, packMeasure, readPostings, timesOf } from './postings.js'
import { buildSegment, dropThread, findPostings, mergeSegments, type PlacedDocument, type Segment } from './segment.js'

const words = ['loom', 'thread', 'weft', 'warp', 'heddle', 'éclat', '織物', '\u{1F9F5}', 'a/b.ts', '￰'] as const

const documents = fc
  .uniqueArray(fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 400 })), { selector: String, maxLength: 60 })
  .chain((places) =>
    fc.tuple(
      ...places.map(([thread, seq]) =>
        fc.dictionary(fc.constantFrom(...words), fc.integer({ min: 1, max: 30 })).map((times): PlacedDocument => {
          const terms = new Map([...Object.entries(times), [kindTerm('user'), 1] as const])
          return { thread, seq, terms, length: Object.values(times).reduce((sum, each) => sum + each, 0) }
        }),
      ),
    ),
  )

/** Everything in a segment by term. */
function contentsOf(segment: Segment): Record<string, string[]> {
  const contents: Record<string, string[]> = {}
  for (const term of [...words, kindTerm('user')]) {
    const block = segment.blocks.findLast(
      ({ firstTerm }) => Buffer.compare(Buffer.from(firstTerm), Buffer.from(term)) <= 0,
    )
    const list = block && findPostings(block.bytes, [term]).get(term)
    if (list === undefined) continue
    const said: string[] = []
    readPostings(list, (...posting) => said.push(posting.join(' ')))
    contents[term] = said
  }
  return contents
}

const whole = (segment: Segment) => ({ ...segment, blocks: contentsOf(segment) })

test('merged documents equal those written at once, however they were divided', () => {
  fc.assert(
    fc.property(documents, fc.array(fc.nat(4)), (given, parts) => {
      const segments = [0, 1, 2, 3, 4].map((part) => {
        return buildSegment(given.filter((_, index) => (parts[index] ?? 0) === part))
      })
      expect(whole(mergeSegments(segments))).toEqual(whole(buildSegment(given)))
    }),
  )
})

test('a segment after dropping a thread equals one without it', () => {
  fc.assert(
    fc.property(documents, fc.nat(5), (given, thread) => {
      const dropped = whole(dropThread(buildSegment(given), thread))
      const { length, ...expected } = whole(buildSegment(given.filter((document) => document.thread !== thread)))
      expect(dropped).toMatchObject(expected)
      // Lengths of single documents are stored as classes.
      expect(Math.abs(dropped.length - length)).toBeLessThanOrEqual(0.2 * length + expected.documents)
    }),
  )
})

test('many terms are found through blocks of a few kilobytes', () => {
  const terms = Array.from({ length: 5_000 }, (_, index) => `term${index}`)
  const { blocks } = buildSegment([
    { thread: 3, seq: 7, terms: new Map(terms.map((term) => [term, 1])), length: 5_000 },
  ])
  expect(blocks.length).toBeGreaterThan(10)
  for (const { bytes } of blocks) expect(bytes.length).toBeLessThan(3_000)
  // Each term is searched for separately; one assertion, because five thousand take longer than the searches.
  const missed = terms.filter((term) => {
    const block = blocks.findLast(({ firstTerm }) => firstTerm <= term)
    return block === undefined || !findPostings(block.bytes, [term]).has(term)
  })
  expect(missed).toEqual([])
})

test('a measure keeps lengths within a fifth and small counts exactly', () => {
  for (const length of [1, 2, 5, 17, 120, 4_000, 30_000]) {
    for (const times of [1, 2, 3, 4]) {
      const measure = packMeasure(length, times)
      expect(measure).toBeLessThan(256)
      expect(timesOf(measure)).toBe(times)
      expect(lengthOf(measure) / length).toBeGreaterThan(0.8)
      expect(lengthOf(measure) / length).toBeLessThan(1.2)
    }
  }
})

test('truncated postings are an error, not an endless loop', () => {
  const { blocks } = buildSegment([{ thread: 1, seq: 1, terms: new Map([['loom', 1]]), length: 1 }])
  const bytes = blocks[0]?.bytes ?? new Uint8Array()
  for (let end = 1; end < bytes.length; end++) {
    expect(() => findPostings(bytes.subarray(0, end), ['loom'])).toThrow('postings end')
  }
})
