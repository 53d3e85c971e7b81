import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHashingEmbedder, createLocalEmbedder } from '@heddle/models'
import type { Measured } from '@heddle/test-support/figure'
import { writeTinyModel } from '@heddle/test-support/tiny-model'
import { env, pipeline } from '@xenova/transformers'
import { interleaved, median, timed } from './statistics.js'

const MODEL = 'bench/tiny'
const CHUNKS = 400
const CHUNK_CHARACTERS = 461
/** As the wrapper sends them. */
const BATCH_TEXTS = 8
const ROUNDS = 5

/**
 * The local embedder with its thread beside the model called directly with the same batches. The model is a table of
 * vectors, so that what the wrapper costs shows more than it would with a real one.
 */
export async function measureEmbedding(): Promise<Measured[]> {
  const modelsDir = await mkdtemp(join(tmpdir(), 'heddle-bench-models-'))
  const texts = Array.from({ length: CHUNKS }, (_, index) => chunkOf(index))
  try {
    await writeTinyModel(join(modelsDir, MODEL))
    const embedder = await createLocalEmbedder({ modelsDir, model: MODEL })
    const direct = await loadDirectly(modelsDir)
    const hashing = createHashingEmbedder()
    const tookMs = await interleaved(ROUNDS, {
      wrapped: () => timed(() => embedder.embed(texts)),
      direct: () => timed(() => direct.embed(texts)),
      hashing: () => timed(() => hashing.embed(texts)),
    })
    await Promise.all([embedder.close(), direct.close(), hashing.close()])
    const rate = (rounds: readonly number[]) => (CHUNKS * 1_000) / median(rounds)
    const megabytes = texts.reduce((sum, text) => sum + text.length, 0) / 1e6
    return [
      {
        name: 'embed.throughput',
        value: rate(tookMs.wrapped),
        unit: 'chunks/s',
        ceiling: rate(tookMs.direct),
        target: '>= 0.9',
        note: 'a model of one look-up, so all of the cost is the tokenizer and the wrapper',
      },
      { name: 'embed.hashing', value: (megabytes * 1_000) / median(tookMs.hashing), unit: 'MB/s' },
    ]
  } finally {
    await rm(modelsDir, { recursive: true, force: true })
  }
}

/** Words that the model knows, so that no chunk is longer than what the wrapper lets through. */
const WORDS =
  'cat dog bird house river server database index query deploy failed network timeout music recipe token'.split(' ')

function chunkOf(number: number): string {
  let text = ''
  for (let at = number; text.length < CHUNK_CHARACTERS; at += 7) text += `${WORDS[at % WORDS.length]} `
  return text
}

async function loadDirectly(modelsDir: string) {
  env.localModelPath = modelsDir
  env.allowRemoteModels = false
  const model = await pipeline('feature-extraction', MODEL, {
    dtype: 'q8',
    device: 'cpu',
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
  })
  return {
    async embed(texts: readonly string[]): Promise<void> {
      for (let from = 0; from < texts.length; from += BATCH_TEXTS) {
        await model(texts.slice(from, from + BATCH_TEXTS), { pooling: 'mean', normalize: true })
      }
    },
    close: () => model.dispose(),
  }
}
