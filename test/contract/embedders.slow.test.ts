import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createHashingEmbedder,
  createLocalEmbedder,
  createOpenAiEmbedder,
  type Embedder,
  embedderLimits,
} from '@heddle/models'
import { systemClock } from '@heddle/runtime'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { writeTinyModel } from '../support/src/models/tiny-model.js'
import { type ProtocolServer, startProtocolServer } from '../support/src/servers/protocol-server.js'

const MODEL = 'heddle-test/tiny'
let modelsDir = ''
let service: ProtocolServer

beforeAll(async () => {
  modelsDir = await mkdtemp(join(tmpdir(), 'heddle-models-'))
  await writeTinyModel(join(modelsDir, MODEL))
  const behind = createHashingEmbedder()
  service = await startProtocolServer(async ({ texts }) => {
    const vectors = await behind.embed(texts)
    // Not of unit length, like the vectors of services.
    return { kind: 'vectors', vectors: vectors.map((vector) => Array.from(vector, (value) => value * 3)) }
  })
})

afterAll(async () => {
  await service.close()
  await rm(modelsDir, { recursive: true })
})

const embedders: { name: string; model: string; aLot: number; open: () => Promise<Embedder> }[] = [
  { name: 'hashing', model: 'heddle-hashing-384-v1', aLot: 2_000, open: async () => createHashingEmbedder() },
  {
    name: 'local',
    model: MODEL,
    aLot: 200,
    open: () => createLocalEmbedder({ model: MODEL, modelsDir, cacheDir: join(modelsDir, 'cache') }),
  },
  {
    name: 'local, with two threads,',
    model: MODEL,
    aLot: 200,
    open: () => createLocalEmbedder({ model: MODEL, modelsDir, cacheDir: join(modelsDir, 'cache'), threads: 2 }),
  },
  {
    name: 'openai',
    model: 'acme-embed',
    aLot: 5_000,
    open: () =>
      createOpenAiEmbedder({ model: 'acme-embed', baseUrl: service.openAiUrl, apiKey: 'key', clock: systemClock }),
  },
]

function dot(left: Float32Array | undefined, right: Float32Array | undefined): number {
  return (left ?? new Float32Array()).reduce((sum, value, index) => sum + value * (right?.[index] ?? 0), 0)
}

/** Distinct texts of many lengths. */
function variedTexts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${'the cat sat on a mat '.repeat(index % 13)}number ${index}`)
}

describe.each(embedders)('the $name embedder', ({ model, aLot, open }) => {
  async function openForTest(): Promise<Embedder> {
    const embedder = await open()
    onTestFinished(() => embedder.close())
    return embedder
  }

  test('returns one vector of unit length for each text, in order, with as many dimensions as it declares', async () => {
    const embedder = await openForTest()
    expect(embedder.model).toBe(model)
    expect(embedder.dimensions).toBe(384)
    const texts = [...variedTexts(37), '', ' \n ', '\u0000', '\ud800', '😀', '数据库', '[SEP]']
    const vectors = await embedder.embed(texts)
    expect(vectors.length).toBe(texts.length)
    for (const vector of vectors) {
      expect(vector).toBeInstanceOf(Float32Array)
      expect(vector.length).toBe(384)
      expect(dot(vector, vector)).toBeCloseTo(1, 4)
    }
  })

  test('returns no vectors for an empty list of texts', async () => {
    expect(await (await openForTest()).embed([])).toEqual([])
  })

  test('returns the same vector for a text alone, in a batch, in a second call, and after a restart', async () => {
    const embedder = await openForTest()
    const texts = variedTexts(50)
    const together = await embedder.embed(texts)
    expect(await embedder.embed(texts)).toEqual(together)
    expect(await (await openForTest()).embed(texts)).toEqual(together)
    for (const index of [0, 12, 31, 49]) {
      const [alone] = await embedder.embed([texts[index] ?? ''])
      expect(dot(alone, together[index])).toBeCloseTo(1, 5)
    }
  })

  test('places texts that share words closer together than texts that do not', async () => {
    const [question, answer, other] = await (await openForTest()).embed([
      'deployment failed with network timeout',
      'a network timeout on the deployment server',
      'bread and butter with a piano concert',
    ])
    expect(dot(question, answer)).toBeGreaterThan(dot(question, other) + 0.2)
    expect(dot(question, question)).toBeGreaterThan(dot(question, answer))
  })

  test('reads only the beginning of a long text', async () => {
    const embedder = await openForTest()
    const long = 'cat '.repeat(embedderLimits.textCharactersMax / 4)
    const [cut, whole, other] = await embedder.embed([long, `${long}${'guitar '.repeat(500_000)}`, 'guitar'])
    expect(dot(cut, whole)).toBeCloseTo(1, 5)
    expect(dot(whole, other)).toBeLessThan(0.2)
  })

  test('answers overlapping calls, each with its own vectors', async () => {
    const embedder = await openForTest()
    const calls = await Promise.all(variedTexts(20).map((text) => embedder.embed([text, 'cat'])))
    const expected = await embedder.embed(variedTexts(20))
    for (const [index, [vector]] of calls.entries()) expect(dot(vector, expected[index])).toBeCloseTo(1, 5)
  })

  test('refuses more texts than its limit', async () => {
    const embedder = await openForTest()
    await expect(embedder.embed(new Array(embedderLimits.textsMax + 1).fill('a'))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      field: 'texts',
    })
  })

  test('stops with the reason of an abort signal, before and during its work, and works again afterwards', async () => {
    const embedder = await openForTest()
    const reason = new Error('no longer needed')
    await expect(embedder.embed(['a'], AbortSignal.abort(reason))).rejects.toBe(reason)
    const abort = new AbortController()
    const work = embedder.embed(variedTexts(5_000), abort.signal)
    setImmediate(() => abort.abort(reason))
    await expect(work).rejects.toBe(reason)
    expect((await embedder.embed(['a'])).length).toBe(1)
  })

  test('rejects waiting and later calls once it is closed, with a retryable error', async () => {
    const embedder = await openForTest()
    const work = embedder.embed(variedTexts(5_000))
    const rejected = expect(work).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', disposition: 'retry' })
    await embedder.close()
    await rejected
    await expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', disposition: 'retry' })
    await embedder.close()
  })

  test('does not block the event loop while it embeds', async () => {
    const embedder = await openForTest()
    await embedder.embed(['warm up'])
    const texts = Array.from({ length: aLot }, (_, index) => `${'the cat sat on a mat '.repeat(40)}${index}`)
    let turns = 0
    let isDone = false
    const countTurns = () => {
      turns++
      if (!isDone) setImmediate(countTurns)
    }
    setImmediate(countTurns)
    await embedder.embed(texts)
    isDone = true
    // Blocking work would leave one or two iterations of the event loop, however fast the machine is.
    expect(turns).toBeGreaterThan(15)
  })
})

test('the local embedder reads 256 tokens of a text', async () => {
  const embedder = await createLocalEmbedder({ model: MODEL, modelsDir, cacheDir: join(modelsDir, 'cache') })
  onTestFinished(() => embedder.close())
  const embed = async (cats: number, guitars: number) => {
    const [vector] = await embedder.embed(['cat '.repeat(cats) + 'guitar '.repeat(guitars)])
    return vector
  }
  expect(await embed(255, 100)).toEqual(await embed(300, 0))
  expect(await embed(250, 100)).not.toEqual(await embed(300, 0))
})
