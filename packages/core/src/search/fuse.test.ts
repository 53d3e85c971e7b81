import { expect, test } from 'vitest'
import { fuseRankings, isNear, rankNearest, vectorWeightsOf } from './fuse.js'

const place = (seq: number, score: number) => ({ thread: 1, seq, score })
const near = (seq: number, cosine: number) => ({ thread: 1, seq, cosine })
const everything = { neighbours: [], isWanted: () => true, unknownShare: 0 }
const seqs = (documents: readonly { seq: number }[]) => documents.map(({ seq }) => seq)

test('without a weight the ranking and the scores are those of words', () => {
  const words = [place(1, 8), place(2, 4)]
  const weights = { always: 0, unknownWords: 0.5 }
  expect(fuseRankings({ ...everything, words, vectors: [near(9, 1)], weights })).toEqual(words)
})

test('similarity counts for a share of the best score by words, and finds documents that words do not', () => {
  const words = [place(1, 10), place(2, 9)]
  const vectors = [near(2, 0.9), near(3, 0.5), near(4, 0.1)]
  const fused = fuseRankings({ ...everything, words, vectors, weights: { always: 0.2, unknownWords: 0 } })
  expect(seqs(fused).slice(0, 3)).toEqual([2, 1, 3])
  expect(fused[0]?.score).toBeCloseTo(11)
  expect(fused[2]?.score).toBeCloseTo(1)
})

test('vectors count for more if the scope has less than half of the query words', () => {
  const words = [place(1, 10), place(2, 9)]
  const weights = { always: 0, unknownWords: 0.4 }
  const order = (unknownShare: number) =>
    seqs(fuseRankings({ ...everything, words, vectors: [near(2, 1), near(1, 0)], weights, unknownShare }))
  expect(order(0)).toEqual([1, 2])
  expect(order(0.5)).toEqual([1, 2])
  expect(order(0.75)).toEqual([2, 1])
})

test('neighbors of a similar message are raised, unless they are excluded', () => {
  const vectors = [near(5, 1), near(9, 0)]
  const raised = rankNearest({ vectors, neighbours: [0.5], isWanted: (_, seq) => seq !== 4 })
  expect(seqs(raised).slice(0, 2)).toEqual([5, 6])
  expect(raised[1]?.score).toBeCloseTo(0.5)
  expect(seqs(raised)).not.toContain(4)
})

test('if words find nothing, vectors alone rank', () => {
  const fused = fuseRankings({
    ...everything,
    words: [],
    vectors: [near(3, 0.4)],
    weights: { always: 1, unknownWords: 0 },
  })
  expect(fused).toEqual([place(3, 1)])
})

test('vectors of hashed words count only if words fail; those of a semantic model always', () => {
  expect(vectorWeightsOf('heddle-hashing-384-v1').always).toBe(0)
  expect(vectorWeightsOf('Xenova/all-MiniLM-L6-v2').always).toBeGreaterThan(0)
})

test('the nearest document is not found if it is unrelated to the query', () => {
  expect(isNear('heddle-hashing-384-v1', 0.12)).toBe(false)
  expect(isNear('heddle-hashing-384-v1', 0.3)).toBe(true)
  expect(isNear('Xenova/all-MiniLM-L6-v2', 0.1)).toBe(false)
  expect(isNear('Xenova/all-MiniLM-L6-v2', 0.4)).toBe(true)
})
