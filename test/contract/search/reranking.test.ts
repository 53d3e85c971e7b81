import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RetryableError } from '@heddle/contracts'
import type { SearchReranker } from '@heddle/engine'
import { createLocalReranker } from '@heddle/models'
import { systemClock } from '@heddle/runtime'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { writeTinyReranker } from '../../support/src/models/tiny-reranker.js'
import { freshStore, prepared, type TestStore } from '../store/support.js'
import { clientOn, PROJECT_NAME, said } from './support.js'

let database: TestStore

beforeAll(async () => {
  database = await freshStore()
  const texts = ['deploy deploy deploy', 'deploy the server of a tree', 'deploy failed', 'deploy the house']
  for (const [index, content] of texts.entries()) {
    await said(database, { thread: `thread ${index}` }, [prepared({ content, sourceId: String(index) })])
  }
})
afterAll(() => database.drop())

type Opened = NonNullable<Awaited<ReturnType<SearchReranker['open']>>>

function searching(reranker: SearchReranker, clock = systemClock) {
  const client = clientOn(database, PROJECT_NAME, { reranker, clock })
  return client.search({ query: 'deploy', by: 'words', explain: true })
}

const scripted = (score: Opened['score'], bounds: Partial<SearchReranker> = {}): SearchReranker => ({
  candidates: 50,
  timeoutMs: 60_000,
  open: async () => ({ model: 'scripted', score }),
  ...bounds,
})

async function plainOrder(): Promise<(string | null)[]> {
  const { items, rerankedBy, degraded } = await clientOn(database).search({
    query: 'deploy',
    by: 'words',
    explain: true,
  })
  expect({ rerankedBy, degraded }).toEqual({ rerankedBy: null, degraded: null })
  expect(items.map(({ explanation }) => explanation?.reranked)).toEqual(items.map(() => null))
  return items.map(({ sourceId }) => sourceId)
}

test('the first results have the order of the model, and say their score and their place before', async () => {
  const plain = await plainOrder()
  const asked: unknown[] = []
  const { items, rerankedBy, degraded } = await searching(
    scripted(async (query, texts) => {
      asked.push(query, texts.length)
      return texts.map((text) => (text === 'deploy failed' ? 0.9 : 0.1))
    }),
  )
  expect({ rerankedBy, degraded, asked }).toEqual({ rerankedBy: 'scripted', degraded: null, asked: ['deploy', 4] })
  expect(items.map(({ sourceId }) => sourceId)).toEqual(['2', ...plain.filter((id) => id !== '2')])
  expect(items[0]?.explanation?.reranked).toEqual({ score: 0.9, from: plain.indexOf('2') + 1 })
  const scores = items.map(({ score }) => score)
  expect(scores).toEqual([...scores].sort((left, right) => right - left))
})

test('the model reads as many results as are configured, and the others follow in their order', async () => {
  const plain = await plainOrder()
  const { items } = await searching(scripted(async (_, texts) => texts.map((_text, index) => index), { candidates: 2 }))
  expect(items.map(({ sourceId }) => sourceId)).toEqual([plain[1], plain[0], plain[2], plain[3]])
  expect(items.map(({ explanation }) => explanation?.reranked?.from)).toEqual([2, 1, undefined, undefined])
})

test.each([
  ['fails', scripted(() => Promise.reject(new RetryableError('SERVICE_UNAVAILABLE', 'it is down'))), 'it is down'],
  [
    'cannot be opened',
    scripted(async () => [], { open: () => Promise.reject(new Error('its files are missing')) }),
    'its files are missing',
  ],
])('results keep their order if the reranker %s, and the answer says so', async (_, reranker, reason) => {
  const plain = await plainOrder()
  const { items, rerankedBy, degraded } = await searching(reranker)
  expect(items.map(({ sourceId }) => sourceId)).toEqual(plain)
  expect({ rerankedBy, degraded }).toEqual({ rerankedBy: null, degraded: `not reranked: ${reason}` })
})

test('results keep their order if the reranker takes longer than a search waits, and the reranker is stopped', async () => {
  const plain = await plainOrder()
  let late = () => {}
  const clock = {
    ...systemClock,
    after: (_ms: number, callback: () => void) => {
      late = callback
      return () => {}
    },
  }
  let stopped: AbortSignal | undefined
  const silent = scripted(
    (_query, _texts, signal) => {
      stopped = signal
      late()
      return new Promise(() => {})
    },
    { timeoutMs: 700 },
  )
  const { items, degraded } = await searching(silent, clock)
  expect(items.map(({ sourceId }) => sourceId)).toEqual(plain)
  expect(degraded).toBe('not reranked: the reranker did not answer within 700 ms')
  expect(stopped?.aborted).toBe(true)
})

test('a cross-encoder on disk orders results', async () => {
  const modelsDir = await mkdtemp(join(tmpdir(), 'heddle-rerank-'))
  await writeTinyReranker(join(modelsDir, 'tiny'))
  const opened = await createLocalReranker({ model: 'tiny', modelsDir, cacheDir: modelsDir })
  onTestFinished(async () => {
    await opened.close()
    await rm(modelsDir, { recursive: true })
  })
  const client = clientOn(database, PROJECT_NAME, {
    reranker: { candidates: 50, timeoutMs: 60_000, open: async () => opened },
  })
  const { items, rerankedBy } = await client.search({ query: 'deploy a tree server', by: 'words' })
  expect(rerankedBy).toBe('tiny')
  expect(items[0]?.sourceId).toBe('1')
})
