import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Members } from './members.js'

test('has what was added, in any order, and nothing else', () => {
  const place = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 200 }))
  fc.assert(
    fc.property(fc.array(place), fc.array(place), (added, others) => {
      const members = new Members()
      for (const [thread, seq] of added) members.add(thread, seq)
      const keys = new Set(added.map(String))
      for (const [thread, seq] of [...added, ...others]) {
        expect(members.has(thread, seq)).toBe(keys.has(String([thread, seq])))
      }
    }),
  )
})
