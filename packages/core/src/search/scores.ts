/**
 * Documents per page of scores; most lists visit threads in order, so the current page is usually the next one needed.
 */
export const PAGE_DOCUMENTS = 128

/**
 * Scores of a thread's documents by `seq`; 0 without a score. Memory is allocated in pages, only where scores exist.
 */
export class ThreadScores {
  readonly #pages = new Map<number, Float64Array>()
  #number = -1
  #page: Float64Array | undefined

  get(seq: number): number {
    return this.#find(Math.floor(seq / PAGE_DOCUMENTS))?.[seq % PAGE_DOCUMENTS] ?? 0
  }

  add(seq: number, score: number): void {
    const page = this.page(Math.floor(seq / PAGE_DOCUMENTS))
    const index = seq % PAGE_DOCUMENTS
    page[index] = (page[index] as number) + score
  }

  /** Sets a document's score to the higher of two. */
  raise(seq: number, score: number): void {
    const page = this.page(Math.floor(seq / PAGE_DOCUMENTS))
    const index = seq % PAGE_DOCUMENTS
    if (score > (page[index] as number)) page[index] = score
  }

  /** Scores of consecutive documents, from `number` times the page size: readable and writable. */
  page(number: number): Float64Array {
    const known = this.#find(number)
    if (known !== undefined) return known
    const page = new Float64Array(PAGE_DOCUMENTS)
    this.#pages.set(number, page)
    this.#page = page
    return page
  }

  /** Pages with a score, in order, so that sums over the same shares are bit-identical. */
  get pages(): readonly (readonly [number: number, page: Float64Array])[] {
    return [...this.#pages].sort(([left], [right]) => left - right)
  }

  /** Calls `visit` for each document with a score, in any order. */
  each(visit: (seq: number, score: number) => void): void {
    for (const [number, page] of this.#pages) {
      for (let index = 0; index < PAGE_DOCUMENTS; index++) {
        const score = page[index] as number
        if (score !== 0) visit(number * PAGE_DOCUMENTS + index, score)
      }
    }
  }

  #find(number: number): Float64Array | undefined {
    if (number !== this.#number) {
      this.#number = number
      this.#page = this.#pages.get(number)
    }
    return this.#page
  }
}

export class Scores extends Map<number, ThreadScores> {
  #number = -1
  #thread: ThreadScores | undefined

  /** The scores of a thread, created if missing. */
  of(thread: number): ThreadScores {
    if (thread === this.#number && this.#thread !== undefined) return this.#thread
    let scores = this.get(thread)
    if (scores === undefined) {
      scores = new ThreadScores()
      this.set(thread, scores)
    }
    this.#number = thread
    this.#thread = scores
    return scores
  }
}
