import type { VectorBlock } from '@heddle/core'
import { LRUCache } from 'lru-cache'

/** Vectors of one model in the threads of one agent. */
export interface VectorScope {
  readonly projectId: string
  readonly agentId: string
  readonly model: string
}

/** What is in memory of a thread. */
export interface CachedThread {
  /** Messages up to it are there. */
  readonly toSeq: number
  readonly block: VectorBlock
}

/** What is in memory of a scope, by the numbers of its threads. */
export class CachedScope {
  readonly threads = new Map<number, CachedThread>()
  /** One at a time brings the scope up to date; others wait for it. */
  updating: Promise<unknown> = Promise.resolve()

  get bytes(): number {
    let bytes = 0
    for (const { block } of this.threads.values()) bytes += THREAD_BYTES + block.bytes
    return bytes
  }
}

/** What a thread takes beside its vectors, about. */
const THREAD_BYTES = 500

/** Scopes in memory, up to a number of bytes: beyond it, those go that were used least recently. */
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

  /** The scope, which is in use now. */
  use(scope: VectorScope): CachedScope {
    const known = this.#scopes.get(keyOf(scope))
    if (known !== undefined) return known
    const cached = new CachedScope()
    this.resize(scope, cached)
    return cached
  }

  /** Counts a scope as so many bytes, and makes room for them. A scope that is larger than the bound by itself goes, too. */
  resize(scope: VectorScope, cached: CachedScope, bytes = cached.bytes): void {
    // Deleted first: the size of a value that stays the same is not counted anew.
    this.#scopes.delete(keyOf(scope))
    this.#scopes.set(keyOf(scope), cached, { size: Math.max(1, bytes) })
  }
}

function keyOf({ projectId, agentId, model }: VectorScope): string {
  return JSON.stringify([projectId, agentId, model])
}
