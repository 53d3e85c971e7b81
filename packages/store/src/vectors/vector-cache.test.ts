import { VectorBlock } from '@heddle/core'
import { expect, test } from 'vitest'
import { VectorCache } from './vector-cache.js'

function filled(cache: VectorCache, agentId: string): void {
  const block = new VectorBlock(4)
  block.append([1], Int8Array.of(1, 2, 3, 4))
  cache.use({ projectId: 'p', agentId, model: 'm' }).threads.set(1, { toSeq: 1, block })
}

const isKept = (cache: VectorCache, agentId: string) =>
  cache.use({ projectId: 'p', agentId, model: 'm' }).threads.size > 0

test('the scopes that were used least recently go first', () => {
  const sizing = new VectorCache()
  filled(sizing, 'one')
  const cache = new VectorCache()
  for (const agentId of ['a', 'b']) filled(cache, agentId)
  isKept(cache, 'a')
  filled(cache, 'c')
  cache.trim(2 * sizing.bytes)
  expect(cache.bytes).toBe(2 * sizing.bytes)
  expect(['a', 'b', 'c'].filter((agentId) => isKept(cache, agentId))).toEqual(['a', 'c'])
})

test('models, agents and projects do not share vectors', () => {
  const cache = new VectorCache()
  filled(cache, 'a')
  for (const other of [{ projectId: 'q' }, { agentId: 'b' }, { model: 'n' }]) {
    expect(cache.use({ projectId: 'p', agentId: 'a', model: 'm', ...other }).threads.size).toBe(0)
  }
})

test('the scope that is about to grow stays, whatever else has to go', () => {
  const cache = new VectorCache()
  for (const agentId of ['a', 'b', 'c']) filled(cache, agentId)
  const kept = cache.use({ projectId: 'p', agentId: 'a', model: 'm' })
  cache.trim(0, kept)
  expect(cache.bytes).toBe(kept.bytes)
  expect(isKept(cache, 'a')).toBe(true)
})
