import type { VectorBlock } from '@heddle/core'
import { LRUCache } from 'lru-cache'

/** Vectors of one model in the threads of one agent. */
export interface VectorScope {
  readonly projectId: string
  readonly agentId: string
  readonly model: string
}

/** The cached vectors of a thread. */
export interface CachedThread {
  /** Vectors of messages up to this `seq` are cached. */
  readonly toSeq: number
  /** The `erased_count` of its vectors then: with another one they are read again. */
  readonly erasedCount: number
  readonly block: VectorBlock
}

/** The cached vectors of a scope, by the numbers of its threads. */
export class CachedScope {
  readonly threads = new Map<number, CachedThread>()
  /** Only one update of the scope runs at a time; others wait for it. */
  updating: Promise<unknown> = Promise.resolve()

  get bytes(): number {
    let bytes = 0
    for (const { block } of this.threads.values()) bytes += THREAD_BYTES + block.bytes
    return bytes
  }
}

/** Approximate memory of a thread besides its vectors. */
const THREAD_BYTES = 500

/** Scopes in memory, up to a number of bytes. Above it the least recently used are removed. */
export class VectorCache {
  readonly #scopes: LRUCache<string, CachedScope>

  constructor(bytesMax: number) {
    this.#scopes = new LRUCache({ maxSize: bytesMax })
  }

  get bytes(): number {
    let bytes = 0
    for (const scope of this.#scopes.values()) bytes += scope.bytes
    return bytes
  }

  /** Returns the scope and marks it as the most recently used. */
  use(scope: VectorScope): CachedScope {
    const known = this.#scopes.get(keyOf(scope))
    if (known !== undefined) return known
    const cached = new CachedScope()
    this.resize(scope, cached)
    return cached
  }

  /** Sets the size of a scope, and removes others to stay within the limit. A scope above the limit is removed itself. */
  resize(scope: VectorScope, cached: CachedScope, bytes = cached.bytes): void {
    // Deleted first, because the cache does not update the size of an unchanged value.
    this.#scopes.delete(keyOf(scope))
    this.#scopes.set(keyOf(scope), cached, { size: Math.max(1, bytes) })
  }
}

function keyOf({ projectId, agentId, model }: VectorScope): string {
  return JSON.stringify([projectId, agentId, model])
}
