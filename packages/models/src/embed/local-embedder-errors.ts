import { PermanentError, RetryableError } from '@heddle/contracts'
import { WorkerFailure } from '@heddle/runtime'

export function modelMissing(model: string, roots: readonly string[]): PermanentError {
  return new PermanentError('NOT_FOUND', `the embedding model ${model} was not found in ${roots.join(' or ')}`, {
    field: 'embedder.model',
    received: model,
    hint:
      `run "heddle models pull ${model}"; or put config.json, tokenizer.json, tokenizer_config.json and ` +
      `onnx/model_quantized.onnx into a folder ${model} there and set HEDDLE_MODELS to the folder above it; ` +
      'or use the embedder "hashing"',
  })
}

export function wrongDimensions(received: number, expected: number): PermanentError {
  return new PermanentError(
    'VALIDATION_ERROR',
    `the model returned ${received} dimensions instead of the ${expected} in its config.json`,
    {
      field: 'hidden_size',
      hint: 'its files belong to two models: copy them again, or use the embedder "hashing"',
    },
  )
}

export function explainFailure(error: unknown, model: string, wasRemote: boolean): unknown {
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
