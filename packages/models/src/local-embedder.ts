import { PermanentError, RetryableError } from '@heddle/contracts'
import { checkTexts, type Embedder, embedderClosed, embedderLimits } from './embedder.js'
import type { ModelDtype, ModelOptions } from './local-embedder.protocol.js'
import { DEFAULT_MODEL, findLocalModel, transformersCacheDir } from './local-models.js'
import { createWorkerCalls, type WorkerCalls, WorkerFailure } from './worker-calls.js'

export interface LocalEmbedderOptions {
  /** Default `Xenova/all-MiniLM-L6-v2`. */
  model?: string
  /** The folder that holds `<model>/config.json`; null looks into the cache folder only. */
  modelsDir: string | null
  /** Default: the quantized weights where they are there, else the full ones. */
  dtype?: ModelDtype
  /** Whether a model that is not on disk may be downloaded into the cache folder. Default false. */
  allowRemoteModels?: boolean
  /** Default `TRANSFORMERS_CACHE`, else `~/.cache/transformers`. */
  cacheDir?: string
}

type Call = WorkerCalls<readonly string[], Float32Array>

/** Word-piece tokens of a text that are read: what MiniLM was trained on. */
const TOKENS_MAX = 256

/** Texts that go through the model at once; more of them only wait longer for each other. */
const BATCH_TEXTS = 8

/** Batches of one call at the thread: one in work, and one waiting so that it never idles. */
const BATCHES_AHEAD = 2

/** Longer than any batch takes. */
const CLOSE_TIMEOUT_MS = 5_000

/**
 * An embedder that runs a model of the sentence-transformers family on this machine, in a thread of its own, through
 * transformers.js: mean of the token vectors, at unit length. The model is loaded with the first call.
 *
 * @throws PermanentError `NOT_FOUND` where the model's files are not on disk; RetryableError where they may be downloaded
 *   and could not be
 */
export async function createLocalEmbedder(options: LocalEmbedderOptions): Promise<Embedder> {
  const model = options.model ?? DEFAULT_MODEL
  const cacheDir = options.cacheDir ?? transformersCacheDir(process.env)
  const roots = [...(options.modelsDir === null ? [] : [options.modelsDir]), cacheDir]
  const allowRemoteModels = options.allowRemoteModels ?? false
  const found = await findLocalModel(model, roots, options.dtype)
  if (found === null && !allowRemoteModels) throw modelMissing(model, roots)

  const thread: Call = createWorkerCalls({
    url: new URL('./local-embedder.worker.mjs', import.meta.url),
    workerData: {
      model,
      dtype: found?.dtype ?? options.dtype ?? 'q8',
      localModelPath: found?.root ?? cacheDir,
      allowRemoteModels: found === null,
      cacheDir,
      tokensMax: TOKENS_MAX,
    } satisfies ModelOptions,
    subject: 'the embedding thread',
    closeTimeoutMs: CLOSE_TIMEOUT_MS,
  })
  const explain = (error: unknown) => explainFailure(error, model, found === null)
  let isClosed = false

  const dimensions = found?.dimensions ?? (await probeDimensions(thread, explain))
  return {
    model,
    dimensions,
    async embed(texts, signal) {
      checkTexts(texts)
      signal?.throwIfAborted()
      if (isClosed) throw embedderClosed(model)
      try {
        return await embedInBatches(thread, texts, dimensions, signal)
      } catch (error) {
        throw explain(error)
      }
    },
    async close() {
      isClosed = true
      await thread.close()
    },
  }
}

/** A model that is not on disk yet is downloaded at once: only then is its number of dimensions known. */
async function probeDimensions(thread: Call, explain: (error: unknown) => unknown): Promise<number> {
  try {
    return (await thread.call([''])).length
  } catch (error) {
    await thread.close()
    throw explain(error)
  }
}

/**
 * Texts of about one length share a batch, because the model reads all texts of a batch at the length of the longest.
 */
async function embedInBatches(
  thread: Call,
  texts: readonly string[],
  dimensions: number,
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const read = texts.map((text) => text.slice(0, embedderLimits.textCharactersMax))
  const order = [...read.keys()].sort((left, right) => (read[left]?.length ?? 0) - (read[right]?.length ?? 0))
  const vectors: Float32Array[] = new Array(texts.length)
  let next = 0
  const sendBatches = async () => {
    while (next < order.length) {
      const batch = order.slice(next, next + BATCH_TEXTS)
      next += batch.length
      try {
        const joined = await thread.call(
          batch.map((index) => read[index] ?? ''),
          signal,
        )
        if (joined.length !== batch.length * dimensions) throw wrongDimensions(joined.length / batch.length, dimensions)
        for (const [place, index] of batch.entries()) {
          vectors[index] = joined.slice(place * dimensions, (place + 1) * dimensions)
        }
      } catch (error) {
        next = order.length
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: BATCHES_AHEAD }, sendBatches))
  return vectors
}

function modelMissing(model: string, roots: readonly string[]): PermanentError {
  return new PermanentError('NOT_FOUND', `the embedding model ${model} was not found in ${roots.join(' or ')}`, {
    field: 'embedder.model',
    received: model,
    hint:
      `put config.json, tokenizer.json, tokenizer_config.json and onnx/model_quantized.onnx of ${model} into ` +
      `a folder ${model} there, set HEDDLE_MODELS to the folder above it, or use the embedder "hashing"`,
  })
}

function wrongDimensions(received: number, expected: number): PermanentError {
  return new PermanentError(
    'VALIDATION_ERROR',
    `the model gave ${received} dimensions, its config.json says ${expected}`,
    {
      field: 'hidden_size',
    },
  )
}

function explainFailure(error: unknown, model: string, wasRemote: boolean): unknown {
  if (!(error instanceof WorkerFailure)) return error
  if (error.kind === 'inference') {
    return new RetryableError('INTERNAL', `the embedding model ${model} failed: ${error.message}`, { cause: error })
  }
  const detail = `the embedding model ${model} could not be loaded: ${error.message}`
  if (wasRemote) return new RetryableError('SERVICE_UNAVAILABLE', detail, { cause: error })
  return new PermanentError('VALIDATION_ERROR', detail, {
    field: 'embedder.model',
    hint: 'its files are damaged or of another kind: copy them again, or use the embedder "hashing"',
    cause: error,
  })
}
