import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cosineOfQuantized } from '../../embedding/index.js'
import { finish } from '../../recall/steps.js'
import { nearestDocuments } from './nearest.js'
import { VectorBlock, vectorQuery } from './vector-block.js'

const element = fc.integer({ min: -127, max: 127 })

/** Threads with vectors of one length, and a query vector. */
const spaces = fc.integer({ min: 1, max: 21 }).chain((dimensions) => {
  const vector = fc.array(element, { minLength: dimensions, maxLength: dimensions })
  const row = fc.record({ seq: fc.integer({ min: 1, max: 9 }), vector })
  return fc.record({
    dimensions: fc.constant(dimensions),
    query: vector,
    threads: fc.array(fc.array(row, { maxLength: 13 }), { maxLength: 4 }),
  })
})

function blocksOf(dimensions: number, threads: readonly (readonly { seq: number; vector: number[] }[])[]) {
  return threads.map((rows, thread): [number, VectorBlock] => {
    const block = new VectorBlock(dimensions)
    const half = rows.length >> 1
    for (const some of [rows.slice(0, half), rows.slice(half)]) {
      block.append(
        some.map(({ seq }) => seq),
        Int8Array.from(some.flatMap(({ vector }) => vector)),
      )
    }
    return [thread, block]
  })
}

test('the nearest messages are those with the greatest cosines, each by its nearest chunk', () => {
  fc.assert(
    fc.property(spaces, fc.integer({ min: 1, max: 12 }), ({ dimensions, query, threads }, limit) => {
      const given = Int8Array.from(query)
      const best = new Map<string, number>()
      for (const [thread, rows] of threads.entries()) {
        for (const { seq, vector } of rows) {
          const cosine = cosineOfQuantized(given, Int8Array.from(vector))
          const key = `${thread} ${seq}`
          best.set(key, Math.max(best.get(key) ?? -1, cosine))
        }
      }
      const expected = [...best.values()].sort((left, right) => right - left).slice(0, limit)
      const blocks = blocksOf(dimensions, threads)
      const found = finish(nearestDocuments({ query: vectorQuery(given), blocks, isWanted: () => true, limit }))
      expect(found.length).toBe(expected.length)
      for (const [index, { thread, seq, cosine }] of found.entries()) {
        expect(cosine).toBeCloseTo(expected[index] ?? 0, 5)
        expect(cosine).toBeCloseTo(best.get(`${thread} ${seq}`) ?? 0, 5)
      }
    }),
  )
})

test('excluded messages make place for others, however many there are', () => {
  const block = new VectorBlock(2)
  const seqs = Array.from({ length: 10_000 }, (_, index) => index + 1)
  block.append(seqs, Int8Array.from(seqs.flatMap((seq) => [100, seq % 100])))
  const query = { query: vectorQuery(Int8Array.of(1, 0)), blocks: [[7, block]] as const, limit: 3 }
  const found = finish(nearestDocuments({ ...query, isWanted: (_, seq) => seq % 100 === 50 && seq > 9_000 }))
  expect(found.map(({ thread, seq }) => [thread, seq])).toEqual([
    [7, 9_950],
    [7, 9_850],
    [7, 9_750],
  ])
})

test('a zero vector is similar to nothing', () => {
  const block = new VectorBlock(3)
  block.append([1, 2], Int8Array.of(0, 0, 0, 1, 0, 0))
  const query = vectorQuery(Int8Array.of(5, 5, 0))
  const [first, second] = finish(nearestDocuments({ query, blocks: [[1, block]], isWanted: () => true, limit: 5 }))
  expect(first).toMatchObject({ seq: 2 })
  expect(second).toEqual({ thread: 1, seq: 1, cosine: 0 })
})

test('vectors of another length than announced are refused', () => {
  expect(() => new VectorBlock(4).append([1, 2], new Int8Array(7))).toThrow('2 vectors of 4 bytes were announced')
})
