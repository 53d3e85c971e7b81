import { describe, expect, test } from 'vitest'
import { assess, noDamage, type StoredEntry } from './ledger.js'

const acknowledged = ['a', 'b', 'c'].map((id, index) => ({ id, index, sha256: `hash of ${id}` }))
const stored = (...ids: string[]): StoredEntry[] =>
  ids.map((id, index) => ({ id, seq: index + 1, sha256: `hash of ${id}` }))

describe('a ledger', () => {
  test('finds no damage where everything stands once, in its order, whatever order it was stored in', () => {
    const conversation = stored('a', 'b', 'c').map((entry, index) => ({ ...entry, seq: 3 - index }))
    expect(assess(acknowledged, conversation, 3)).toEqual(noDamage)
  })

  test('misses what is not there, and what is there with another content', () => {
    expect(assess(acknowledged, stored('a', 'c'), 2)).toEqual({ ...noDamage, lost: 1 })
    const [first, ...others] = stored('a', 'b', 'c')
    expect(assess(acknowledged, [{ ...first, sha256: 'another' } as StoredEntry, ...others], 3)).toEqual({
      ...noDamage,
      lost: 1,
    })
  })

  test('notices what is there twice, and what nobody was told of', () => {
    expect(assess(acknowledged, stored('a', 'b', 'b', 'c'), 4)).toEqual({ ...noDamage, duplicated: 1 })
    expect(assess(acknowledged, stored('a', 'b', 'c', 'd'), 4)).toEqual({ ...noDamage, duplicated: 1 })
  })

  test('counts what stands behind its successors', () => {
    expect(assess(acknowledged, stored('b', 'c', 'a'), 3)).toEqual({ ...noDamage, disordered: 1 })
  })

  test('counts numbers that are missing, doubled, or beyond the head', () => {
    const numbered = (...numbers: number[]) =>
      stored('a', 'b', 'c').map((entry, index) => ({ ...entry, seq: numbers[index] ?? 0 }))
    expect(assess(acknowledged, numbered(1, 2, 4), 4).gaps).toBe(1)
    expect(assess(acknowledged, numbered(1, 2, 2), 2).gaps).toBe(1)
    expect(assess(acknowledged, numbered(1, 2, 3), 2).gaps).toBe(1)
  })
})
