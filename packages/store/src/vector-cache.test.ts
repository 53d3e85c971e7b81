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
  const sizing = new VectorCache(0)
  filled(sizing, 'one')
  const cache = new VectorCache(2 * sizing.bytes)
  for (const agentId of ['a', 'b']) filled(cache, agentId)
  isKept(cache, 'a')
  filled(cache, 'c')
  cache.trim()
  expect(cache.bytes).toBeLessThanOrEqual(cache.bytesMax)
  expect(['a', 'b', 'c'].filter((agentId) => isKept(cache, agentId))).toEqual(['a', 'c'])
})

test('models, agents and projects do not share vectors', () => {
  const cache = new VectorCache(1e6)
  filled(cache, 'a')
  for (const other of [{ projectId: 'q' }, { agentId: 'b' }, { model: 'n' }]) {
    expect(cache.use({ projectId: 'p', agentId: 'a', model: 'm', ...other }).threads.size).toBe(0)
  }
})
