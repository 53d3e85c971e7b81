import type { ChunkPlace } from '@heddle/core'

/** An embedded chunk of a message. */
export interface EmbeddedChunk extends ChunkPlace {
  /** One signed byte a dimension. */
  readonly vector: Int8Array
}
