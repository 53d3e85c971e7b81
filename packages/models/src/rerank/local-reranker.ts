import { HeddleError, PermanentError, RetryableError } from '@heddle/contracts'
import { type Clock, createWorkerCalls, mapConcurrently, systemClock, WorkerFailure } from '@heddle/runtime'
import { CircuitBreaker } from '../chat/circuit-breaker.js'
import { findLocalModel, modelFolders, transformersCacheDir } from '../embed/local-models.js'
import type { RerankBatch, RerankerOptions } from './local-reranker.protocol.js'
import { checkTexts, type Reranker, readQuery, readText, rerankerClosed } from './reranker.js'

export const DEFAULT_RERANK_MODEL = 'Xenova/ms-marco-MiniLM-L-6-v2'

export interface LocalRerankerOptions {
  /** Default `Xenova/ms-marco-MiniLM-L-6-v2`. */
  readonly model?: string
  /** The folder that holds `<model>/config.json`; null: only the cache folder is searched. */
  readonly modelsDir: string | null
  /** Default `TRANSFORMERS_CACHE`, else `~/.cache/transformers`. */
  readonly cacheDir?: string
  /** Time limit of a batch, after which its thread is stopped, in milliseconds. Default 60,000; the first includes loading. */
  readonly timeoutMs?: number
  readonly clock?: Pick<Clock, 'monotonicMs' | 'after'>
}

/** Tokens of query and text together. */
const TOKENS_MAX = 512
/** Texts in one run of the model: an abandoned search occupies the thread no longer than one run. */
const BATCH_TEXTS = 8
const FAILURES_MAX = 3
const TIMEOUT_MS = 60_000
const CLOSE_TIMEOUT_MS = 5_000

/**
 * A reranker that runs a cross-encoder for sequence classification in a worker thread, through transformers.js. The model is
 * loaded with the first call, and never downloaded. A thread that dies or hangs is restarted by a later call.
 *
 * @throws PermanentError `NOT_FOUND` if the model's files are not on disk
 */
export async function createLocalReranker(options: LocalRerankerOptions): Promise<Reranker> {
  const { model = DEFAULT_RERANK_MODEL, clock = systemClock } = options
  const cacheDir = options.cacheDir ?? transformersCacheDir(process.env)
  const roots = modelFolders(options.modelsDir, { TRANSFORMERS_CACHE: cacheDir })
  const found = await findLocalModel(model, roots)
  if (found === null) throw modelMissing(model, roots)
  const thread = createWorkerCalls<RerankBatch, Float32Array>({
    url: new URL('./local-reranker.worker.mjs', import.meta.url),
    workerData: (): RerankerOptions => ({
      model,
      dtype: found.dtype,
      localModelPath: found.root,
      tokensMax: TOKENS_MAX,
    }),
    subject: 'the reranking thread',
    callTimeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    clock,
    closeTimeoutMs: CLOSE_TIMEOUT_MS,
  })
  const breaker = new CircuitBreaker({ clock, failuresMax: FAILURES_MAX, subject: `the reranking model ${model}` })
  let isClosed = false
  return {
    model,
    async score(query, texts, signal) {
      checkTexts(texts)
      signal?.throwIfAborted()
      if (isClosed) throw rerankerClosed(model)
      const scores: number[] = new Array(texts.length)
      const scoreBatch = async (batch: readonly number[], either: AbortSignal) => {
        const read = batch.map((index) => readText(texts[index] ?? ''))
        const answered = await thread.call({ query: readQuery(query), texts: read }, either)
        for (const [place, index] of batch.entries()) scores[index] = answered[place] ?? 0
      }
      const countsAsFailure = (error: unknown) =>
        signal?.aborted !== true && error instanceof HeddleError && error.disposition === 'retry'
      return await breaker.run(async () => {
        try {
          await mapConcurrently(batchesByLength(texts), scoreBatch, { atOnce: 1, signal })
          return scores
        } catch (error) {
          throw explainFailure(error, model)
        }
      }, countsAsFailure)
    },
    async close() {
      isClosed = true
      await thread.close()
    },
  }
}

/** Indexes of texts; those of similar length share a batch, because the model pads all of a batch to the longest. */
function batchesByLength(texts: readonly string[]): number[][] {
  const order = [...texts.keys()].sort((left, right) => (texts[left]?.length ?? 0) - (texts[right]?.length ?? 0))
  return Array.from({ length: Math.ceil(order.length / BATCH_TEXTS) }, (_, at) =>
    order.slice(at * BATCH_TEXTS, (at + 1) * BATCH_TEXTS),
  )
}

function modelMissing(model: string, roots: readonly string[]): PermanentError {
  return new PermanentError('NOT_FOUND', `the reranking model ${model} was not found in ${roots.join(' or ')}`, {
    field: 'reranker.model',
    received: model,
    hint:
      'put config.json, tokenizer.json, tokenizer_config.json and onnx/model_quantized.onnx into a folder ' +
      `${model} there and set HEDDLE_MODELS to the folder above it; or set the reranker to "off"`,
  })
}

function explainFailure(error: unknown, model: string): unknown {
  if (!(error instanceof WorkerFailure)) return error
  if (error.kind === 'inference') {
    return new RetryableError('INTERNAL', `the reranking model ${model} failed: ${error.message}`, { cause: error })
  }
  return new PermanentError('VALIDATION_ERROR', `the reranking model ${model} could not be loaded: ${error.message}`, {
    field: 'reranker.model',
    hint: 'its files are damaged or of another kind: copy them again, or set the reranker to "off"',
    cause: error,
  })
}
