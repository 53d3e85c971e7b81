import { RetryableError, validationError } from '@heddle/contracts'
import type { TextEmbedder } from '@heddle/core'

/**
 * Turns texts into vectors whose cosine says how much the texts have in common. Vectors of different models cannot be
 * compared.
 */
export interface Embedder extends TextEmbedder {
  /**
   * One vector of unit length for each text, in order. The model reads the beginning of a text only (256 word-piece tokens,
   * or `textCharactersMax` characters), so callers chunk first: see `chunkText` in core. Does not block the event loop.
   *
   * @throws PermanentError `VALIDATION_ERROR` for more than `textsMax` texts; RetryableError for a temporary failure of the
   *   model, or if the embedder is closed; the signal's reason once it is aborted
   */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>
  /** Frees the model; waiting and later calls of `embed` are rejected. May be called again. */
  close(): Promise<void>
}

export const embedderLimits = {
  /** Texts of one call. */
  textsMax: 10_000,
  /** Characters of a text that are read: far more than 256 tokens, and few enough to tokenize at once. */
  textCharactersMax: 16_384,
} as const

export function checkTexts(texts: readonly string[]): void {
  if (texts.length <= embedderLimits.textsMax) return
  throw validationError('texts', `must be at most ${embedderLimits.textsMax} in one call`, texts)
}

export function embedderClosed(model: string): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', `the embedder ${model} is closed`)
}
