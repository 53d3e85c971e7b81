import type { WorkerAnswer, WorkerMessage } from '@heddle/runtime'
import type { ModelOptions } from '../embed/local-embedder.protocol.js'

/** Start options of the model's thread. */
export type RerankerOptions = Omit<ModelOptions, 'allowRemoteModels' | 'cacheDir'>

/** One query with the texts of a batch. */
export interface RerankBatch {
  readonly query: string
  readonly texts: readonly string[]
}

export type RerankMessage = WorkerMessage<RerankBatch>
/** Scores from 0 to 1, in the order of the texts. */
export type RerankAnswer = WorkerAnswer<Float32Array>
