// The thread in which a cross-encoder runs: inference is synchronous and would block an event loop. Plain JavaScript that
// imports no package of the workspace, as the thread of the embedder.

import { parentPort, workerData } from 'node:worker_threads'

/** @import { PreTrainedModel, PreTrainedTokenizer } from '@xenova/transformers' */
/** @import { RerankAnswer, RerankBatch, RerankerOptions, RerankMessage } from './local-reranker.protocol.js' */

if (parentPort === null) throw new Error('this module runs in a worker thread only')
const port = parentPort
const options = /** @type {RerankerOptions} */ (workerData)

/** @type {{ tokenizer: PreTrainedTokenizer, model: PreTrainedModel } | undefined} */
let loaded
let isClosing = false

/** Requests are answered one at a time, in order. */
let queue = Promise.resolve()

port.on('message', (/** @type {RerankMessage | null} */ message) => {
  if (message === null) {
    isClosing = true
    port.close()
    queue = queue.then(async () => void (await loaded?.model.dispose()))
  } else {
    queue = queue.then(() => answer(message))
  }
})

/** @param {RerankMessage} message */
async function answer({ id, request }) {
  if (isClosing) return
  try {
    loaded ??= await load()
  } catch (error) {
    return send({ id, failure: { kind: 'load', message: messageOf(error) } })
  }
  try {
    const response = await score(loaded, request)
    send({ id, response }, [response.buffer])
  } catch (error) {
    send({ id, failure: { kind: 'inference', message: messageOf(error) } })
  }
}

/**
 * @param {NonNullable<typeof loaded>} encoder
 * @param {RerankBatch} batch
 * @returns {Promise<Float32Array<ArrayBuffer>>}
 */
async function score({ tokenizer, model }, { query, texts }) {
  const inputs = tokenizer(
    texts.map(() => query),
    { text_pair: [...texts], padding: true, truncation: true, max_length: options.tokensMax },
  )
  const { logits } = await model(inputs)
  const [rows, classes] = /** @type {[number, number]} */ (logits.dims)
  const values = /** @type {Float32Array} */ (logits.data)
  if (rows !== texts.length || classes < 1 || classes > 2) {
    throw new Error(`the model gave ${rows} x ${classes} values for ${texts.length} texts`)
  }
  return Float32Array.from({ length: rows }, (_, row) => {
    // One value says how relevant; of two classes the second is "relevant".
    const [first = 0, second] = values.subarray(row * classes, (row + 1) * classes)
    return 1 / (1 + Math.exp(-(second === undefined ? first : second - first)))
  })
}

async function load() {
  // Loaded here, so that a machine on which it could not be installed is told so as a model that cannot be loaded.
  const { AutoModelForSequenceClassification, AutoTokenizer, env, LogLevel } = await import('@xenova/transformers')
  env.allowLocalModels = true
  env.localModelPath = options.localModelPath
  env.allowRemoteModels = false
  env.useFSCache = false
  env.logLevel = LogLevel.ERROR
  const tokenizer = await AutoTokenizer.from_pretrained(options.model)
  const model = await AutoModelForSequenceClassification.from_pretrained(options.model, {
    dtype: options.dtype,
    device: 'cpu',
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
  })
  return { tokenizer, model }
}

/**
 * @param {RerankAnswer} message
 * @param {ArrayBuffer[]} [transfer]
 */
function send(message, transfer) {
  port.postMessage(message, transfer)
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error)
}
