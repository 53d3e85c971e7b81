import { RetryableError, validationError } from '@heddle/contracts'

/** Says how well texts answer a query, by reading query and text together: slower than vectors, and more exact. */
export interface Reranker {
  readonly model: string
  /**
   * A score for each text, in order; the higher, the better. Scores of two queries are not comparable. Does not block the
   * event loop.
   *
   * @throws PermanentError `VALIDATION_ERROR` for more than `textsMax` texts; RetryableError for a temporary failure of the
   *   model, or if the reranker is closed; the signal's reason once it is aborted
   */
  score(query: string, texts: readonly string[], signal?: AbortSignal): Promise<number[]>
  /** Frees the model; later calls of `score` are rejected. May be called again. */
  close(): Promise<void>
}

export const rerankerLimits = {
  /** Texts of one call. */
  textsMax: 200,
  /** Characters of a query that are read; the rest of a model's window is for the text. */
  queryCharactersMax: 1_000,
  /** Characters of a text that are read: about the 512 tokens of a cross-encoder. */
  textCharactersMax: 2_000,
} as const

export function checkTexts(texts: readonly string[]): void {
  if (texts.length <= rerankerLimits.textsMax) return
  throw validationError('texts', `must be at most ${rerankerLimits.textsMax} in one call`, texts)
}

export function readQuery(query: string): string {
  return query.slice(0, rerankerLimits.queryCharactersMax)
}

export function readText(text: string): string {
  return text.slice(0, rerankerLimits.textCharactersMax)
}

export function rerankerClosed(model: string): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', `the reranker ${model} is closed`)
}
