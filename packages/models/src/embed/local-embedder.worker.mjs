// The thread in which a model runs: inference is synchronous and would block an event loop. Plain JavaScript, because Node 20
// starts threads from JavaScript only and this file is used from the sources (tests) and from dist/ alike. It imports no
// package of the workspace, so that it runs before anything is built.

import { parentPort, workerData } from 'node:worker_threads'

/** @import { FeatureExtractionPipeline } from '@xenova/transformers' */
/** @import { EmbedAnswer, EmbedMessage, ModelOptions } from './local-embedder.protocol.js' */

if (parentPort === null) throw new Error('this module runs in a worker thread only')
const port = parentPort
const options = /** @type {ModelOptions} */ (workerData)

/** @type {FeatureExtractionPipeline | undefined} */
let model
let isClosing = false

/** Requests are answered one at a time, in order. */
let queue = Promise.resolve()

port.on('message', (/** @type {EmbedMessage | null} */ message) => {
  if (message === null) {
    isClosing = true
    port.close()
    queue = queue.then(() => model?.dispose())
  } else {
    queue = queue.then(() => answer(message))
  }
})

/** @param {EmbedMessage} message */
async function answer({ id, request }) {
  if (isClosing) return
  try {
    // A model that could not be loaded is tried again with the next request: its files may have come by then.
    model ??= await load()
  } catch (error) {
    return send({ id, failure: { kind: 'load', message: messageOf(error) } })
  }
  try {
    const output = await model([...request], { pooling: 'mean', normalize: true })
    const vectors = Float32Array.from(/** @type {Float32Array} */ (output.data))
    send({ id, response: vectors }, [vectors.buffer])
  } catch (error) {
    send({ id, failure: { kind: 'inference', message: messageOf(error) } })
  }
}

/** @returns {Promise<FeatureExtractionPipeline>} */
async function load() {
  // Loaded here, so that a machine on which it could not be installed is told so as a model that cannot be loaded.
  const { env, LogLevel, pipeline } = await import('@xenova/transformers')
  env.allowLocalModels = true
  env.localModelPath = options.localModelPath
  env.allowRemoteModels = options.allowRemoteModels
  env.useFSCache = options.allowRemoteModels
  env.cacheDir = options.cacheDir
  env.logLevel = LogLevel.ERROR
  const extractor = await pipeline('feature-extraction', options.model, {
    dtype: options.dtype,
    device: 'cpu',
    // One thread of computation: Heddle scales by processes, and threads that spin take the database's cores.
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
  })
  // The pipeline truncates to what the tokenizer allows (512 tokens), but the model was trained on less.
  const tokenizer = extractor.tokenizer
  extractor.tokenizer = new Proxy(tokenizer, {
    apply: (_target, _self, [texts, settings]) => tokenizer(texts, { ...settings, max_length: options.tokensMax }),
  })
  return extractor
}

/**
 * @param {EmbedAnswer} message
 * @param {ArrayBuffer[]} [transfer]
 */
function send(message, transfer) {
  port.postMessage(message, transfer)
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error)
}
