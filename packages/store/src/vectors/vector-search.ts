import type { NearDocument } from '@heddle/core'
import type { RemakeVectors } from './remade-vectors.js'

/** Chunks of one scope that exact search compares at most: past them, each query would take too long and too much memory. */
export const VECTORS_EXACT_MAX = 250_000

/** Bytes of vectors that a process keeps in memory, unless it is told otherwise: 264,000 of 384 dimensions, so the largest scope. */
export const VECTOR_CACHE_BYTES_MAX = 100 * 1024 * 1024

/** Bytes that a vector takes in memory: itself, filled up to whole words, its scale and its message. */
export function bytesPerVector(dimensions: number): number {
  return 4 * Math.ceil(dimensions / 4) + 12
}

export interface NearestRequest {
  readonly projectId: string
  /** The agents in whose threads is searched. */
  readonly agentIds: readonly string[]
  /** Only vectors of one model are compared. */
  readonly model: string
  /** One signed byte a dimension. */
  readonly query: Int8Array
  /** The number of the only thread as postings name it; null for all. */
  readonly thread: number | null
  /** Whether a message may be given back. */
  readonly isWanted: (thread: number, seq: number) => boolean
  /** Messages to give back at most. */
  readonly limit: number
  /** Makes the vectors that are not stored (`hasRemadeVectors` in core); absent for a model whose vectors are. */
  readonly remake?: RemakeVectors | undefined
}

export interface Nearest {
  /** The nearest first. Threads are named by the numbers that postings have for them. */
  readonly documents: readonly NearDocument[]
  /** Chunks that the scope has of the model, whether or not they were compared. */
  readonly chunks: number
  /** Agents whose vectors were not compared, since they are too many for this way of searching. */
  readonly agentsLeftOut: number
  /** How they were compared: one by one in the memory of this process, or on a server that has pgvector. */
  readonly by: VectorComparison
}

export type VectorComparison = 'exact' | 'pgvector'

/** Finds the messages of a scope whose vectors are nearest to that of a query. */
export interface VectorSearch {
  /** Bytes of vectors that are in the memory of this process. */
  readonly cachedBytes: number
  nearest(request: NearestRequest): Promise<Nearest>
}

/** Puts together what several scopes gave. */
export function joinNearest(found: readonly Nearest[], limit: number): Nearest {
  const documents = found.flatMap((each) => each.documents).sort((left, right) => right.cosine - left.cosine)
  return {
    documents: documents.slice(0, limit),
    chunks: found.reduce((sum, { chunks }) => sum + chunks, 0),
    agentsLeftOut: found.reduce((sum, { agentsLeftOut }) => sum + agentsLeftOut, 0),
    by: found[0]?.by ?? 'exact',
  }
}
