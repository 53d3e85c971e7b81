/** What turns texts into vectors, as far as those need to know who only ask for vectors. */
export interface TextEmbedder {
  /** Stored with each vector: only vectors of one model are compared. */
  readonly model: string
  readonly dimensions: number
  /** One vector of unit length for each text, in order. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>
}
