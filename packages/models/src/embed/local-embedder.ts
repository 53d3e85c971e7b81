import { availableParallelism } from 'node:os'
import { HeddleError } from '@heddle/contracts'
import { type Clock, createWorkerCalls, mapConcurrently, systemClock, type WorkerCalls } from '@heddle/runtime'
import { CircuitBreaker } from '../chat/circuit-breaker.js'
import { BatchQueue } from './batch-queue.js'
import { checkTexts, type Embedder, embedderClosed, embedderLimits } from './embedder.js'
import type { ModelDtype, ModelOptions } from './local-embedder.protocol.js'
import { explainFailure, modelMissing, wrongDimensions } from './local-embedder-errors.js'
import { DEFAULT_MODEL, findLocalModel, modelFolders, transformersCacheDir } from './local-models.js'

export interface LocalEmbedderOptions {
  /** Default `Xenova/all-MiniLM-L6-v2`. */
  model?: string
  /** The folder that holds `<model>/config.json`; null: only the cache folder is searched. */
  modelsDir: string | null
  /** Default: the quantized weights if they exist, else the full ones. */
  dtype?: ModelDtype
  /** Whether a model that is not on disk may be downloaded into the cache folder. Default false. */
  allowRemoteModels?: boolean
  /** Default `TRANSFORMERS_CACHE`, else `~/.cache/transformers`. */
  cacheDir?: string
  /** Threads that compute at once, each with the model in memory. Default: all cores but one, at most 4. */
  threads?: number
  /** Time limit of a batch, after which its thread is stopped, in milliseconds. Default 60,000; the first includes loading. */
  timeoutMs?: number
  clock?: Pick<Clock, 'monotonicMs' | 'after'>
}

type Thread = WorkerCalls<readonly string[], Float32Array>
type Queue = BatchQueue<readonly string[], Float32Array>

/** Word-piece tokens of a text that are read: what MiniLM was trained on. */
const TOKENS_MAX = 256

/** Texts in one run of the model; more only wait longer for each other. */
const BATCH_TEXTS = 8

/** Batches of one call for each thread: one running and one waiting. */
const BATCHES_AT_ONCE = 2

/** Failures in a row after which calls are refused for half a minute. */
const FAILURES_MAX = 3

/** Time limit of one batch, including the loading of the model. */
const TIMEOUT_MS = 60_000

/** More threads are limited by memory bandwidth. */
const THREADS_MAX = 4

/** Time after which a thread that is still computing is stopped. */
const CLOSE_TIMEOUT_MS = 5_000

/**
 * An embedder that runs a model of the sentence-transformers family in worker threads, through transformers.js: mean of the
 * token vectors, at unit length. The model is loaded with the first call. A thread that dies or hangs is restarted by a
 * later call; after several such failures in a row, calls are refused for a while.
 *
 * @throws PermanentError `NOT_FOUND` if the model's files are not on disk; RetryableError if their download failed
 */
export async function createLocalEmbedder(options: LocalEmbedderOptions): Promise<Embedder> {
  const model = options.model ?? DEFAULT_MODEL
  const cacheDir = options.cacheDir ?? transformersCacheDir(process.env)
  const roots = modelFolders(options.modelsDir, { TRANSFORMERS_CACHE: cacheDir })
  const allowRemoteModels = options.allowRemoteModels ?? false
  const found = await findLocalModel(model, roots, options.dtype)
  if (found === null && !allowRemoteModels) throw modelMissing(model, roots)

  const { clock = systemClock } = options
  const threadCount = options.threads ?? Math.max(1, Math.min(THREADS_MAX, availableParallelism() - 1))
  const threads = Array.from(
    { length: threadCount },
    (): Thread =>
      createWorkerCalls({
        url: new URL('./local-embedder.worker.mjs', import.meta.url),
        workerData: (): ModelOptions => ({
          model,
          dtype: found?.dtype ?? options.dtype ?? 'q8',
          localModelPath: found?.root ?? cacheDir,
          allowRemoteModels: found === null,
          cacheDir,
          tokensMax: TOKENS_MAX,
        }),
        subject: 'the embedding thread',
        callTimeoutMs: options.timeoutMs ?? TIMEOUT_MS,
        clock,
        closeTimeoutMs: CLOSE_TIMEOUT_MS,
      }),
  )
  const queue: Queue = new BatchQueue(threads)
  const breaker = new CircuitBreaker({
    clock,
    failuresMax: FAILURES_MAX,
    subject: `the embedding model ${model}`,
  })
  const explain = (error: unknown) => explainFailure(error, model, found === null)
  let isClosed = false
  const close = async () => {
    isClosed = true
    await Promise.all(threads.map((thread) => thread.close()))
  }

  const dimensions = found?.dimensions ?? (await probeDimensions(queue, close, explain))
  return {
    model,
    dimensions,
    async embed(texts, signal) {
      checkTexts(texts)
      signal?.throwIfAborted()
      if (isClosed) throw embedderClosed(model)
      const countsAsFailure = (error: unknown) =>
        signal?.aborted !== true && error instanceof HeddleError && error.disposition === 'retry'
      return await breaker.run(async () => {
        try {
          return await embedInBatches(queue, texts, {
            dimensions,
            signal,
            batchesAtOnce: BATCHES_AT_ONCE * threadCount,
          })
        } catch (error) {
          throw explain(error)
        }
      }, countsAsFailure)
    },
    close,
  }
}

/** A model that is not on disk yet is downloaded at once: only then is its number of dimensions known. */
async function probeDimensions(
  queue: Queue,
  close: () => Promise<void>,
  explain: (error: unknown) => unknown,
): Promise<number> {
  try {
    return (await queue.run([''], { isUrgent: true, signal: undefined })).length
  } catch (error) {
    await close()
    throw explain(error)
  }
}

/**
 * Texts of similar length share a batch, because the model pads all texts of a batch to the longest.
 */
async function embedInBatches(
  queue: Queue,
  texts: readonly string[],
  { dimensions, signal, batchesAtOnce }: { dimensions: number; signal: AbortSignal | undefined; batchesAtOnce: number },
): Promise<Float32Array[]> {
  const read = texts.map((text) => text.slice(0, embedderLimits.textCharactersMax))
  const order = [...read.keys()].sort((left, right) => (read[left]?.length ?? 0) - (read[right]?.length ?? 0))
  const vectors: Float32Array[] = new Array(texts.length)
  const isUrgent = texts.length <= BATCH_TEXTS
  const batches = Array.from({ length: Math.ceil(order.length / BATCH_TEXTS) }, (_, at) =>
    order.slice(at * BATCH_TEXTS, (at + 1) * BATCH_TEXTS),
  )
  const embedBatch = async (batch: readonly number[], either: AbortSignal) => {
    const joined = await queue.run(
      batch.map((index) => read[index] ?? ''),
      { isUrgent, signal: either },
    )
    if (joined.length !== batch.length * dimensions) throw wrongDimensions(joined.length / batch.length, dimensions)
    for (const [place, index] of batch.entries()) {
      vectors[index] = joined.slice(place * dimensions, (place + 1) * dimensions)
    }
  }
  await mapConcurrently(batches, embedBatch, { atOnce: batchesAtOnce, signal })
  return vectors
}
