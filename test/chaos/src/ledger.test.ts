import { describe, expect, test } from 'vitest'
import { assess, noDamage, type StoredEntry } from './ledger.js'

const acknowledged = ['a', 'b', 'c'].map((id, index) => ({ id, index, sha256: `hash of ${id}` }))
const stored = (...ids: string[]): StoredEntry[] =>
  ids.map((id, index) => ({ id, seq: index + 1, sha256: `hash of ${id}` }))

describe('a ledger', () => {
  test('finds no damage when each message is stored once and in order, whatever the order of storing', () => {
    const conversation = stored('a', 'b', 'c').map((entry, index) => ({ ...entry, seq: 3 - index }))
    expect(assess(acknowledged, conversation, 3)).toEqual(noDamage)
  })

  test('reports missing messages and messages with another content', () => {
    expect(assess(acknowledged, stored('a', 'c'), 2)).toEqual({ ...noDamage, lost: 1 })
    const [first, ...others] = stored('a', 'b', 'c')
    expect(assess(acknowledged, [{ ...first, sha256: 'another' } as StoredEntry, ...others], 3)).toEqual({
      ...noDamage,
      lost: 1,
    })
  })

  test('reports duplicates and messages that were never acknowledged', () => {
    expect(assess(acknowledged, stored('a', 'b', 'b', 'c'), 4)).toEqual({ ...noDamage, duplicated: 1 })
    expect(assess(acknowledged, stored('a', 'b', 'c', 'd'), 4)).toEqual({ ...noDamage, duplicated: 1 })
  })

  test('counts messages that are stored after their successors', () => {
    expect(assess(acknowledged, stored('b', 'c', 'a'), 3)).toEqual({ ...noDamage, disordered: 1 })
  })

  test('counts sequence numbers that are missing, duplicate, or beyond the head', () => {
    const numbered = (...numbers: number[]) =>
      stored('a', 'b', 'c').map((entry, index) => ({ ...entry, seq: numbers[index] ?? 0 }))
    expect(assess(acknowledged, numbered(1, 2, 4), 4).gaps).toBe(1)
    expect(assess(acknowledged, numbered(1, 2, 2), 2).gaps).toBe(1)
    expect(assess(acknowledged, numbered(1, 2, 3), 2).gaps).toBe(1)
  })
})
