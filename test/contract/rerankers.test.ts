import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createHttpReranker, createLocalReranker, openReranker, type Reranker, rerankerLimits } from '@heddle/models'
import { systemClock } from '@heddle/runtime'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { writeTinyReranker } from '../support/src/models/tiny-reranker.js'

const MODEL = 'heddle-test/tiny-reranker'
let modelsDir = ''
let baseUrl = ''
/** Of the service: its status, and the requests that it has received. */
const service = { status: 200, answer: null as string | null, requests: [] as { body: string; key: string }[] }

beforeAll(async () => {
  modelsDir = await mkdtemp(join(tmpdir(), 'heddle-rerankers-'))
  await writeTinyReranker(join(modelsDir, MODEL))
  const server = createServer(async (request, response) => {
    const body = await text(request)
    service.requests.push({ body, key: request.headers.authorization ?? '' })
    const { query, documents } = JSON.parse(body) as { query: string; documents: string[] }
    const words = new Set(query.split(' '))
    const results = documents.map((document, index) => ({
      index,
      relevance_score: document.split(' ').filter((word) => words.has(word)).length,
    }))
    results.sort((left, right) => right.relevance_score - left.relevance_score)
    response.statusCode = request.url === '/v1/rerank' ? service.status : 404
    response.end(service.answer ?? JSON.stringify({ results }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return async () => {
    server.close()
    await rm(modelsDir, { recursive: true })
  }
})

const local = () => createLocalReranker({ model: MODEL, modelsDir, cacheDir: join(modelsDir, 'cache') })
const limits = { attemptsMax: 1 }
const http = async () =>
  createHttpReranker({ model: 'acme-rerank', baseUrl, apiKey: 'key', clock: systemClock, limits })

const rerankers: { name: string; model: string; open: () => Promise<Reranker> }[] = [
  { name: 'local', model: MODEL, open: local },
  { name: 'http', model: 'acme-rerank', open: http },
]

describe.each(rerankers)('the $name reranker', ({ model, open }) => {
  async function opened() {
    const reranker = await open()
    onTestFinished(() => reranker.close())
    return reranker
  }

  test('scores texts in their order: the text that answers the query is the best', async () => {
    const reranker = await opened()
    expect(reranker.model).toBe(model)
    const texts = ['bread butter oven', 'server deployment failed', 'cat']
    const scores = await reranker.score('deployment failed', texts)
    expect(scores).toHaveLength(3)
    expect(scores.every(Number.isFinite)).toBe(true)
    expect(scores.indexOf(Math.max(...scores))).toBe(1)
  })

  test('scores many texts as it scores each alone, long and empty ones as well', async () => {
    const reranker = await opened()
    const texts = Array.from({ length: 30 }, (_, index) => (index % 2 ? 'dog' : 'cat bird '.repeat(index + 1)))
    texts.push('', 'server '.repeat(2_000))
    const together = await reranker.score('dog', texts)
    const [alone] = await reranker.score('dog', ['dog'])
    expect(together).toHaveLength(32)
    expect(together[1]).toBeCloseTo(alone ?? 0, 4)
    expect(await reranker.score('dog', [])).toEqual([])
  })

  test('refuses too many texts, and calls after it is closed or aborted', async () => {
    const reranker = await opened()
    const many = new Array<string>(rerankerLimits.textsMax + 1).fill('cat')
    await expect(reranker.score('cat', many)).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'texts' })
    const reason = new Error('enough')
    await expect(reranker.score('cat', ['cat'], AbortSignal.abort(reason))).rejects.toBe(reason)
    await reranker.close()
    await reranker.close()
    await expect(reranker.score('cat', ['cat'])).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: `the reranker ${model} is closed`,
    })
  })
})

test('a service gets the key and no secrets of a text', async () => {
  const reranker = await http()
  await reranker.score('dog', ['dog AKIAIOSFODNN7EXAMPLE'])
  const { body, key } = service.requests.at(-1) ?? {}
  expect(key).toBe('Bearer key')
  expect(JSON.parse(body ?? '')).toMatchObject({
    model: 'acme-rerank',
    query: 'dog',
    top_n: 1,
    return_documents: false,
  })
  expect(body).not.toContain('AKIAIOSFODNN7EXAMPLE')
})

test.each([
  ['a status', { status: 503, answer: null }, 'SERVICE_UNAVAILABLE', 'retry'],
  ['a refused key', { status: 401, answer: null }, 'UNAUTHORIZED', 'give-up'],
  ['too few scores', { status: 200, answer: '{"results":[]}' }, 'SERVICE_UNAVAILABLE', 'retry'],
  [
    'no numbers',
    { status: 200, answer: '{"results":[{"index":0,"relevance_score":"1"}]}' },
    'SERVICE_UNAVAILABLE',
    'retry',
  ],
  ['no JSON', { status: 200, answer: '<html>' }, 'SERVICE_UNAVAILABLE', 'retry'],
])('an answer of a service with %s is a typed error', async (_, answer, code, disposition) => {
  Object.assign(service, answer)
  onTestFinished(() => void Object.assign(service, { status: 200, answer: null }))
  const reranker = await http()
  await expect(reranker.score('cat', ['cat'])).rejects.toMatchObject({ code, disposition })
})

test('the configured reranker is opened, and faults of the configuration name their field', async () => {
  const place = { env: {}, modelsDir }
  expect(await openReranker({ kind: 'off', model: null, baseUrl: null }, place)).toBeNull()
  const found = await openReranker({ kind: 'local', model: MODEL, baseUrl: null }, place)
  expect(found?.model).toBe(MODEL)
  await found?.close()
  await expect(openReranker({ kind: 'local', model: 'test/absent', baseUrl: null }, place)).rejects.toMatchObject({
    code: 'NOT_FOUND',
    field: 'reranker.model',
  })
  await expect(openReranker({ kind: 'http', model: 'a', baseUrl: null }, place)).rejects.toMatchObject({
    field: 'reranker.baseUrl',
  })
})
