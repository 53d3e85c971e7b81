/** Turns texts into vectors: the part of an embedder that callers need. */
export interface TextEmbedder {
  /** Stored with each vector: only vectors of one model are compared. */
  readonly model: string
  readonly dimensions: number
  /** One vector of unit length for each text, in order. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>
}
