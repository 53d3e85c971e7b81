import { expect, test } from 'vitest'
import { searchCheck } from './search.js'

const absent = { available: null, installed: null, isUsed: false }
const offered = { available: '0.8.1', installed: null, isUsed: false }
const used = { available: '0.8.1', installed: '0.8.1', isUsed: true }
const largest = { agent: 'coder', model: 'm', chunks: 1_000, dimensions: 384 }
const check = (pgvector: typeof used | typeof absent | typeof offered, chunks: number, dimensions = 384) =>
  searchCheck(pgvector, { largest: { ...largest, chunks, dimensions }, cacheMegabytes: 256 })

test('doctor reports how vectors are compared and how many the largest agent has', () => {
  expect(check(absent, 1_000)).toMatchObject({
    status: 'ok',
    detail:
      'vectors one by one in memory, up to 250000 chunks of an agent and 256 MB of a process; at most 1000 chunks, of agent "coder"',
  })
  expect(check(used, 900_000)).toMatchObject({
    status: 'ok',
    detail: 'vectors by the index of pgvector 0.8.1; at most 900000 chunks, of agent "coder"',
  })
  expect(searchCheck(absent, { largest: null, cacheMegabytes: 256 }).detail).toContain('no vectors yet')
})

test('above 250,000 chunks in a scope without pgvector it reports that pgvector is needed', () => {
  expect(check(absent, 250_000).status).toBe('ok')
  expect(check(absent, 250_001)).toMatchObject({
    status: 'warn',
    hint: expect.stringContaining('pgvector is needed: install version 0.8 or later'),
  })
  expect(check(offered, 250_001).hint).toContain('create extension vector')
  expect(check(used, 250_001, 385).hint).toContain('385 dimensions have no index')
})

test('a scope that does not fit into the memory of a process is reported with the setting', () => {
  const large = check(absent, 200_000, 1_536)
  expect(large.status).toBe('warn')
  expect(large.hint).toContain('HEDDLE_VECTOR_CACHE_MEGABYTES')
  expect(large.detail).toContain('which take 296 MB')
})

test('a server with unused pgvector gets the hint to run heddle migrate', () => {
  expect(check(offered, 10)).toMatchObject({ status: 'warn', hint: expect.stringContaining('heddle migrate') })
})
