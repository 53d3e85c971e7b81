import type { VectorBlock } from '@heddle/core'

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
  /** In the order of their last use. */
  readonly #scopes = new Map<string, CachedScope>()

  get bytes(): number {
    let bytes = 0
    for (const scope of this.#scopes.values()) bytes += scope.bytes
    return bytes
  }

  /** The scope, which is in use now. */
  use({ projectId, agentId, model }: VectorScope): CachedScope {
    const key = JSON.stringify([projectId, agentId, model])
    const scope = this.#scopes.get(key) ?? new CachedScope()
    this.#scopes.delete(key)
    this.#scopes.set(key, scope)
    return scope
  }

  /** Lets scopes go until the rest takes so many bytes at most: the one used last goes last, and `kept` never. */
  trim(bytesMax: number, kept?: CachedScope): void {
    let bytes = this.bytes
    for (const [key, scope] of this.#scopes) {
      if (bytes <= bytesMax) return
      if (scope === kept) continue
      bytes -= scope.bytes
      this.#scopes.delete(key)
    }
  }
}
