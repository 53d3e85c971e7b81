import type { WorkerAnswer, WorkerMessage } from '@heddle/runtime'

/** Start options of the model's thread. */
export interface ModelOptions {
  readonly model: string
  readonly dtype: ModelDtype
  /** The folder that holds `<model>/config.json`. */
  readonly localModelPath: string
  readonly allowRemoteModels: boolean
  /** Folder of downloads. */
  readonly cacheDir: string
  readonly tokensMax: number
}

/** `q8` is `onnx/model_quantized.onnx`, a quarter of the size and twice as fast; `fp32` is `onnx/model.onnx`. */
export type ModelDtype = 'q8' | 'fp32'

/** The texts of one batch. */
export type EmbedMessage = WorkerMessage<readonly string[]>
/** Their vectors, one after another. */
export type EmbedAnswer = WorkerAnswer<Float32Array>
