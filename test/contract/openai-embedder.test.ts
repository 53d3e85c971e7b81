import { createOpenAiEmbedder, type OpenAiEmbedderOptions } from '@heddle/models'
import { type Clock, systemClock } from '@heddle/runtime'
import { expect, onTestFinished, test } from 'vitest'
import {
  type ProtocolReply,
  type ProtocolRequest,
  startProtocolServer,
} from '../support/src/servers/protocol-server.js'

const vectorsOf = ({ texts }: ProtocolRequest): ProtocolReply => ({
  kind: 'vectors',
  vectors: texts.map((text) => [text.length, 1, 0]),
})

/** Time passes only while code waits for it; the test triggers deadlines by hand. */
function eventualClock() {
  let nowMs = 0
  const waits: number[] = []
  const deadlines = new Set<() => void>()
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    wait: async (ms, signal) => {
      signal?.throwIfAborted()
      waits.push(ms)
      nowMs += ms
    },
    after: (_ms, callback) => {
      deadlines.add(callback)
      return () => deadlines.delete(callback)
    },
  }
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { clock, waits, deadlines, pass }
}

/** A service that answers each request with the next of the replies, and then with vectors. */
async function serviceWith(replies: readonly ProtocolReply[], options: Partial<OpenAiEmbedderOptions> = {}) {
  const service = await startProtocolServer((request) => replies[request.number - 1] ?? vectorsOf(request))
  onTestFinished(() => service.close())
  const time = eventualClock()
  const given = { model: 'acme', baseUrl: service.openAiUrl, apiKey: 'secret', dimensions: 3, clock: time.clock }
  const embedder = await createOpenAiEmbedder({ ...given, ...options })
  onTestFinished(() => embedder.close())
  return { service, embedder, ...time }
}

test('a request names the model and the key, and its vectors are stored for this model and these dimensions', async () => {
  const { service, embedder } = await serviceWith([])
  expect(embedder).toMatchObject({ model: 'acme@3', dimensions: 3 })
  await embedder.embed(['a'])
  expect(service.requests).toMatchObject([{ protocol: 'embeddings', model: 'acme', key: 'secret', texts: ['a'] }])
})

test('texts are split into requests by count and by characters, and an empty text is sent as a placeholder', async () => {
  const { service, embedder } = await serviceWith([])
  const long = 'x'.repeat(20_000)
  const texts = [...Array.from({ length: 300 }, (_, index) => `number ${index}`), '', ...new Array(40).fill(long)]
  const vectors = await embedder.embed(texts)
  const [alone] = await embedder.embed(['number 299'])
  expect(vectors[299]).toEqual(alone)
  expect(vectors.every((vector) => vector !== undefined && vector.length === 3)).toBe(true)
  const sent = service.requests.slice(0, -1)
  expect(sent.length).toBeGreaterThan(2)
  for (const { texts: some } of sent) {
    expect(some.length).toBeLessThanOrEqual(256)
    expect(some.reduce((sum, text) => sum + text.length, 0)).toBeLessThanOrEqual(200_000)
    expect(some.every((text) => text.length > 0)).toBe(true)
  }
})

test('text that looks like a secret is not sent', async () => {
  const { service, embedder } = await serviceWith([])
  await embedder.embed(['the password: hunter2hunter2, and sk-abcdefghijklmnopqrstuvwxyz'])
  expect(service.requests[0]?.texts[0]).toContain('redacted')
  expect(service.requests[0]?.texts[0]).not.toMatch(/hunter2|abcdefghij/)
})

test('a busy service is retried after the time that it names', async () => {
  const { service, embedder, waits } = await serviceWith([
    { kind: 'status', status: 429, retryAfter: '7' },
    { kind: 'status', status: 503 },
  ])
  expect((await embedder.embed(['a'])).length).toBe(1)
  expect(service.requests.length).toBe(3)
  expect(waits).toEqual([7_000, 1_000])
})

test('a service that asks for a longer wait than a worker allows is an error with the time to retry at', async () => {
  const { service, embedder } = await serviceWith([{ kind: 'status', status: 429, retryAfter: '120' }])
  await expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfter: 120 })
  expect(service.requests.length).toBe(1)
})

for (const reply of [
  { kind: 'malformed' },
  { kind: 'cut' },
  { kind: 'vectors', vectors: [] },
  { kind: 'vectors', vectors: [[1, 2, 3], [4]] },
  { kind: 'vectors', vectors: [['a' as never, 1, 2]] },
  { kind: 'vectors', vectors: [[0, 0, 0]] },
] as const satisfies readonly ProtocolReply[]) {
  test(`an answer that is ${JSON.stringify(reply)} is retried, and then fails with a retryable error`, async () => {
    const { service, embedder } = await serviceWith([reply, reply, reply])
    await expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', disposition: 'retry' })
    expect(service.requests.length).toBe(3)
    expect((await embedder.embed(['a'])).length).toBe(1)
  })
}

for (const [status, code] of [
  [401, 'UNAUTHORIZED'],
  [404, 'NOT_FOUND'],
  [400, 'VALIDATION_ERROR'],
] as const) {
  test(`a refusal with ${status} is not retried`, async () => {
    const { service, embedder } = await serviceWith([{ kind: 'status', status }])
    await expect(embedder.embed(['a'])).rejects.toMatchObject({ code, disposition: 'give-up' })
    expect(service.requests.length).toBe(1)
  })
}

test('vectors of other dimensions than requested are a permanent error', async () => {
  const { embedder } = await serviceWith([{ kind: 'vectors', vectors: [[1, 2]] }])
  await expect(embedder.embed(['a'])).rejects.toMatchObject({ disposition: 'give-up', field: 'embedder.dimensions' })
})

test('a service that does not answer before the deadline is a timeout', async () => {
  const silent = { kind: 'silent' } as const
  const { embedder, deadlines } = await serviceWith([silent, silent, silent])
  const failed = expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'TIMEOUT', disposition: 'retry' })
  let isDone = false
  void failed.finally(() => {
    isDone = true
  })
  while (!isDone) {
    for (const miss of deadlines) miss()
    await new Promise(setImmediate)
  }
  await failed
})

test('a service that fails repeatedly is not called for a while, and then called again', async () => {
  const { service, embedder, pass } = await serviceWith(new Array(6).fill({ kind: 'status', status: 500 }))
  await expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  await expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  const asked = service.requests.length
  await expect(embedder.embed(['a'])).rejects.toThrow(/is not called for a while/)
  expect(service.requests.length).toBe(asked)
  pass(31_000)
  service.respond(vectorsOf)
  expect((await embedder.embed(['a'])).length).toBe(1)
})

test('a model with an unknown number of dimensions is asked for it once', async () => {
  const service = await startProtocolServer(vectorsOf)
  onTestFinished(() => service.close())
  const options = { baseUrl: service.openAiUrl, apiKey: null, clock: systemClock }
  const embedder = await createOpenAiEmbedder({ ...options, model: 'acme' })
  expect(embedder).toMatchObject({ model: 'acme', dimensions: 3 })
  expect(service.requests.length).toBe(1)
  expect((await createOpenAiEmbedder(options)).dimensions).toBe(1_536)
  expect(service.requests.length).toBe(1)
})
