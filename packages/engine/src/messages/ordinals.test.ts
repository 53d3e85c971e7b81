import { expect, test } from 'vitest'
import { Ordinals } from './ordinals.js'

test('an append with the time of the previous one continues its ordinals, so that equal times do not change the order', () => {
  const ordinals = new Ordinals()
  expect(ordinals.next('thread', { firstId: 'a', places: [1_000, 1_000] })).toBe(0)
  expect(ordinals.next('thread', { firstId: 'c', places: [1_000] })).toBe(2)
  expect(ordinals.next('thread', { firstId: 'd', places: [900, 2_000] })).toBe(3)
  expect(ordinals.next('thread', { firstId: 'f', places: [2_000] })).toBe(5)
})

test('a later append, and one of another thread, starts at 0', () => {
  const ordinals = new Ordinals()
  ordinals.next('thread', { firstId: 'a', places: [1_000, 1_000] })
  expect(ordinals.next('other', { firstId: 'b', places: [1_000] })).toBe(0)
  expect(ordinals.next('thread', { firstId: 'c', places: [1_001] })).toBe(0)
})

test('a repeated append keeps its ordinals', () => {
  const ordinals = new Ordinals()
  ordinals.next('thread', { firstId: 'a', places: [1_000] })
  expect(ordinals.next('thread', { firstId: 'b', places: [1_000] })).toBe(1)
  expect(ordinals.next('thread', { firstId: 'b', places: [1_000] })).toBe(1)
})
