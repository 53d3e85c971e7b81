import { VectorBlock } from '@heddle/core'
import { expect, test } from 'vitest'
import { VectorCache, type VectorScope } from './vector-cache.js'

const scopeOf = (agentId: string): VectorScope => ({ projectId: 'p', agentId, model: 'm' })

/** @returns the bytes of the scope */
function fill(cache: VectorCache, agentId: string): number {
  const block = new VectorBlock(4)
  block.append([1], Int8Array.of(1, 2, 3, 4))
  const cached = cache.use(scopeOf(agentId))
  cached.threads.set(1, { erasedCount: 0, toSeq: 1, block })
  cache.resize(scopeOf(agentId), cached)
  return cached.bytes
}

const isKept = (cache: VectorCache, agentId: string) => cache.use(scopeOf(agentId)).threads.size > 0
const UNBOUNDED = 1_000_000
const bytesOfOne = fill(new VectorCache(UNBOUNDED), 'one')

test('the least recently used scopes are removed first', () => {
  const cache = new VectorCache(2 * bytesOfOne)
  for (const agentId of ['a', 'b']) fill(cache, agentId)
  expect(isKept(cache, 'a')).toBe(true)
  expect(fill(cache, 'c')).toBe(bytesOfOne)
  expect(cache.bytes).toBe(2 * bytesOfOne)
  expect(isKept(cache, 'b')).toBe(false)
})

test('models, agents and projects do not share vectors', () => {
  const cache = new VectorCache(UNBOUNDED)
  fill(cache, 'a')
  for (const other of [{ projectId: 'q' }, { agentId: 'b' }, { model: 'n' }]) {
    expect(cache.use({ ...scopeOf('a'), ...other }).threads.size).toBe(0)
  }
})

test('a scope that is about to grow stays, and others are removed before it grows', () => {
  const bytesMax = 4 * bytesOfOne
  const cache = new VectorCache(bytesMax)
  for (const agentId of ['a', 'b', 'c']) fill(cache, agentId)
  cache.resize(scopeOf('a'), cache.use(scopeOf('a')), bytesMax)
  expect(cache.bytes).toBe(bytesOfOne)
  expect(isKept(cache, 'a')).toBe(true)
})

test('a scope that has grown above the limit is removed', () => {
  const cache = new VectorCache(bytesOfOne - 1)
  fill(cache, 'a')
  expect(cache.bytes).toBe(0)
})
