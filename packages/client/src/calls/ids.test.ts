import { validate, version } from 'uuid'
import { expect, it } from 'vitest'
import { newId } from './ids.js'

it('never returns an id twice, and returns UUIDs of version 7 that begin with their time', () => {
  const beganAtMs = Date.now()
  const ids = Array.from({ length: 10_000 }, newId)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) {
    expect(validate(id) && version(id)).toBe(7)
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBeGreaterThanOrEqual(beganAtMs)
  }
})
