import { expect, test } from 'vitest'
import { createIds } from './idempotency.js'
import { readPrefer } from './prefer.js'

test('preferences are read at any position, and unknown ones are ignored', () => {
  expect(readPrefer(undefined)).toEqual({ respondAsync: false, waitMs: undefined, idsAreNew: false })
  const given = { respondAsync: true, waitMs: 10_000, idsAreNew: false }
  expect(readPrefer('Respond-Async, wait=10; foo=bar, return=minimal')).toEqual(given)
  expect(readPrefer(['wait="5"', 'respond-async'])).toEqual({ ...given, waitMs: 5_000 })
  expect(readPrefer('ids-are-new=false')).toMatchObject({ idsAreNew: false })
  expect(readPrefer('wait=30, ids-are-new')).toEqual({ respondAsync: false, waitMs: 30_000, idsAreNew: true })
})

test('an invalid wait is refused', () => {
  for (const wait of ['0', '-1', 'long', '', '601', '1e3']) {
    expect(() => readPrefer(`wait=${wait}`)).toThrow(expect.objectContaining({ status: 400 }))
  }
})

test('an idempotency key yields the same ids again, and different ids for another thread, position or key', () => {
  const ids = [
    createIds('k1', 'message', 'run')(0),
    createIds('k1', 'message', 'run')(1),
    createIds('k2', 'message', 'run')(0),
    createIds('k1', 'message', 'other')(0),
    createIds('k1', 'iteration', 'run')(0),
  ]
  expect(new Set(ids).size).toBe(ids.length)
  expect(createIds('k1', 'message', 'run')(0)).toBe(ids[0])
  expect(createIds(undefined, 'message', 'run')(0)).toBeUndefined()
  expect(() => createIds('', 'message', 'run')).toThrow(expect.objectContaining({ field: 'idempotency-key' }))
})
