import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createHashingEmbedder, createLocalEmbedder } from '@heddle/models'
import type { Measured } from '@heddle/test-support/figure'
import { writeMiniLmShapedModel } from '@heddle/test-support/models/minilm-model'
import { env, pipeline } from '@xenova/transformers'
import { interleaved, median, timed } from '../load/statistics.js'

const MODEL = 'bench/minilm'
const CHUNKS = 160
/** From a line to a full chunk. */
const CHUNK_CHARACTERS = [60, 150, 300, 460] as const
/** The batches of the wrapper. */
const BATCH_TEXTS = 8
const ROUNDS = 5

/**
 * The local embedder with its threads beside a direct call of a model of MiniLM's shape with the same batches, sorted by
 * length; the delay of the event loop while the embedder ran; and how long it takes to start.
 */
export async function measureEmbedding(): Promise<Measured[]> {
  const modelsDir = await mkdtemp(join(tmpdir(), 'heddle-bench-models-'))
  const texts = Array.from({ length: CHUNKS }, (_, index) => chunkOf(index))
  try {
    await writeMiniLmShapedModel(join(modelsDir, MODEL))
    const startMs: number[] = []
    for (let round = 0; round < ROUNDS; round++) startMs.push(await timed(() => firstVector(modelsDir)))
    const embedder = await createLocalEmbedder({ modelsDir, model: MODEL, threads: 1 })
    const direct = await loadDirectly(modelsDir)
    const hashing = createHashingEmbedder()
    const delaysMs: number[] = []
    const wrapped = async () => {
      // A monitor that is stopped and restarted counts the time between as one delay.
      const monitor = monitorEventLoopDelay({ resolution: 1 })
      monitor.enable()
      await embedder.embed(texts)
      monitor.disable()
      delaysMs.push(monitor.percentile(99) / 1e6)
    }
    await embedder.embed(texts.slice(0, BATCH_TEXTS))
    const tookMs = await interleaved(ROUNDS, {
      wrapped: () => timed(wrapped),
      direct: () => timed(() => direct.embed(texts)),
      hashing: () => timed(() => hashing.embed(texts)),
    })
    await Promise.all([embedder.close(), direct.close(), hashing.close()])
    const chunkMs = median(tookMs.wrapped) / CHUNKS
    const rate = (rounds: readonly number[]) => (CHUNKS * 1_000) / median(rounds)
    const megabytes = texts.reduce((sum, text) => sum + text.length, 0) / 1e6
    return [
      {
        name: 'embed.throughput',
        value: rate(tookMs.wrapped),
        unit: 'chunks/s',
        ceiling: rate(tookMs.direct),
        target: '>= 0.9',
        note: `a quantized model of MiniLM's shape, ${availableParallelism()} cores, one thread for each of the two`,
      },
      {
        name: 'embed.loopDelay',
        value: Math.max(...delaysMs),
        unit: 'ms',
        target: '<= 20',
        note: `p99 of the event loop while the embedder runs, in the worst of ${ROUNDS} rounds, the 1 ms of the measurement included`,
      },
      {
        name: 'embed.start',
        value: median(startMs),
        unit: 'ms',
        target: '<= 500',
        note: `from opening the embedder to its first vector, p50 of ${ROUNDS}: a thread, the runtime and the model from the disk`,
      },
      { name: 'embed.chunk', value: chunkMs, unit: 'ms', target: '<= 4.5', note: 'chunks of 60 to 460 characters' },
      { name: 'embed.hashing', value: (megabytes * 1_000) / median(tookMs.hashing), unit: 'MB/s' },
    ]
  } finally {
    await rm(modelsDir, { recursive: true, force: true })
  }
}

async function firstVector(modelsDir: string): Promise<void> {
  const embedder = await createLocalEmbedder({ modelsDir, model: MODEL, threads: 1 })
  await embedder.embed(['first'])
  await embedder.close()
}

/** Words of the model's vocabulary, so that no chunk exceeds the wrapper's limit. */
const WORDS =
  'cat dog bird house river server database index query deploy failed network timeout music recipe token'.split(' ')

function chunkOf(number: number): string {
  const charactersMin = CHUNK_CHARACTERS[number % CHUNK_CHARACTERS.length] ?? 0
  let text = ''
  for (let at = number; text.length < charactersMin; at += 7) text += `${WORDS[at % WORDS.length]} `
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
      const sorted = [...texts].sort((left, right) => left.length - right.length)
      for (let from = 0; from < sorted.length; from += BATCH_TEXTS) {
        await model(sorted.slice(from, from + BATCH_TEXTS), { pooling: 'mean', normalize: true })
      }
    },
    close: () => model.dispose(),
  }
}
