import fc from 'fast-check'
import { expect, test } from 'vitest'
import { finish } from '../recall/steps.js'
import { findPostings } from './blocks.js'
import { kindTerm } from './document.js'
import { isDated, isReply, lengthOf, packMeasure, timesOf } from './measure.js'
import { PASSAGES_MAX } from './passages.js'
import { decodePostings } from './posting-runs.js'
import { readPostings, writePostings } from './postings.js'
import { buildSegment, dropThread, mergeSegments, type PlacedDocument, type Segment } from './segment.js'

const words = ['loom', 'thread', 'weft', 'warp', 'heddle', 'éclat', '織物', '\u{1F9F5}', 'a/b.ts', '￰'] as const

/** Passages in order, each with a number of occurrences. */
const places = fc
  .uniqueArray(fc.nat(PASSAGES_MAX - 1), { minLength: 1, maxLength: 4 })
  .chain((passages) =>
    fc
      .array(fc.integer({ min: 1, max: 30 }), { minLength: passages.length, maxLength: passages.length })
      .map((times) =>
        [...passages].sort((left, right) => left - right).flatMap((passage, at) => [passage, times[at] ?? 1]),
      ),
  )

const documents = fc
  .uniqueArray(fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 400 })), { selector: String, maxLength: 60 })
  .chain((positions) =>
    fc.tuple(
      ...positions.map(([thread, seq]) =>
        fc
          .record({
            found: fc.dictionary(fc.constantFrom(...words), places),
            isReply: fc.boolean(),
            dated: fc.array(fc.nat(3)),
          })
          .map(({ found, isReply, dated }): PlacedDocument => {
            const terms = new Map([...Object.entries(found), [kindTerm('user'), [0, 1]] as const])
            const length = Object.values(found).reduce((sum, of) => sum + (of[1] ?? 0), 0)
            return { thread, seq, terms, length, isReply, dated: new Set(dated) }
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
    const { runs, seqs, passages, measures } = decodePostings([list])
    contents[term] = runs.flatMap(({ thread, from, to }) =>
      [...seqs.subarray(from, to)].map((seq, at) => [thread, seq, passages[from + at], measures[from + at]].join(' ')),
    )
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
      expect(whole(finish(mergeSegments(segments)))).toEqual(whole(buildSegment(given)))
    }),
  )
})

test('a segment after dropping a thread equals one without it', () => {
  fc.assert(
    fc.property(documents, fc.nat(5), (given, thread) => {
      const dropped = whole(finish(dropThread(buildSegment(given), thread)))
      const { length, ...expected } = whole(buildSegment(given.filter((document) => document.thread !== thread)))
      expect(dropped).toMatchObject(expected)
      // Lengths of single documents are stored as classes.
      expect(Math.abs(dropped.length - length)).toBeLessThanOrEqual(0.4 * length + expected.documents)
    }),
  )
})

test('merging and dropping pause between every few hundred terms, those that are written included', () => {
  const terms = Array.from({ length: 20_000 }, (_, index) => `term${index}`)
  const segments = [1, 2].map((thread) => buildSegment([placed({ thread, seq: 7 }, terms)]))
  const pausesOf = (steps: Iterable<undefined>) => [...steps].length
  const fewest = terms.length / 300
  expect(pausesOf(mergeSegments(segments))).toBeGreaterThan(fewest)
  expect(pausesOf(dropThread(finish(mergeSegments(segments)), 1))).toBeGreaterThan(fewest / 2)
})

test('many terms are found through blocks of a few kilobytes', () => {
  const terms = Array.from({ length: 5_000 }, (_, index) => `term${index}`)
  const { blocks } = buildSegment([placed({ thread: 3, seq: 7 }, terms)])
  expect(blocks.length).toBeGreaterThan(8)
  for (const { bytes } of blocks) expect(bytes.length).toBeLessThan(3_000)
  // Each term is searched for separately; one assertion, because five thousand take longer than the searches.
  const missed = terms.filter((term) => {
    const block = blocks.findLast(({ firstTerm }) => firstTerm <= term)
    return block === undefined || !findPostings(block.bytes, [term]).has(term)
  })
  expect(missed).toEqual([])
})

test('a measure keeps lengths within a third, small counts and both properties', () => {
  for (const length of [1, 2, 5, 17, 120, 2_500]) {
    for (const times of [1, 2, 3]) {
      const measure = packMeasure({ length, times, isReply: times === 2, isDated: length === 5 })
      expect(measure).toBeLessThan(256)
      expect(timesOf(measure)).toBe(times)
      expect(isReply(measure)).toBe(times === 2)
      expect(isDated(measure)).toBe(length === 5)
      expect(lengthOf(measure) / length).toBeGreaterThan(0.7)
      expect(lengthOf(measure) / length).toBeLessThan(1.35)
    }
  }
})

test('each message of a list is visited once, whatever its passages', () => {
  const measure = packMeasure({ length: 9, times: 1, isReply: false, isDated: false })
  const postings = [
    { thread: 2, seq: 3, passage: 1 },
    { thread: 2, seq: 3, passage: 4 },
    { thread: 2, seq: 9, passage: 0 },
  ]
  const visited: string[] = []
  readPostings(writePostings(postings.map((posting) => ({ ...posting, measure }))), (thread, seq) =>
    visited.push(`${thread}.${seq}`),
  )
  expect(visited).toEqual(['2.3', '2.9'])
})

test('blocks that were written before messages had passages are read', () => {
  // One term of 4 bytes, in thread 7 the messages 2 and 130; a byte of each for 10 terms and one occurrence, or two.
  const list = [7, 2, 2, (7 << 3) | 0, 128, 1, (7 << 3) | 1]
  const block = Uint8Array.from([0, 4, ...Buffer.from('loom'), list.length, ...list])
  const { runs, seqs, passages, measures } = decodePostings([
    findPostings(block, ['loom']).get('loom') ?? new Uint8Array(),
  ])
  expect(runs).toEqual([{ thread: 7, from: 0, to: 2 }])
  expect([...seqs.subarray(0, 2)]).toEqual([2, 130])
  expect([...passages.subarray(0, 2)]).toEqual([0, 0])
  expect([...measures.subarray(0, 2)].map((measure) => [Math.round(lengthOf(measure)), timesOf(measure)])).toEqual([
    [8, 1],
    [8, 2],
  ])
})

test('truncated postings are an error, not an endless loop', () => {
  const { blocks } = buildSegment([placed({ thread: 1, seq: 1 }, ['loom'])])
  const bytes = blocks[0]?.bytes ?? new Uint8Array()
  for (let end = 1; end < bytes.length; end++) {
    expect(() => findPostings(bytes.subarray(0, end), ['loom'])).toThrow('postings end')
  }
})

function placed(place: Pick<PlacedDocument, 'thread' | 'seq'>, terms: readonly string[]): PlacedDocument {
  const once = new Map(terms.map((term) => [term, [0, 1]]))
  return { ...place, terms: once, length: terms.length, isReply: false, dated: new Set() }
}
