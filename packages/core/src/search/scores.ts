/** Scores of one page of documents; most lists run through their threads in order, so the page before is the page again. */
export const PAGE_DOCUMENTS = 128

/** Scores of a thread's documents by `seq`; one without a score has 0. Takes room for what has scores alone, by pages. */
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

  /** The scores of documents that follow each other, from `number` times the size of a page: to read and to change. */
  page(number: number): Float64Array {
    const known = this.#find(number)
    if (known !== undefined) return known
    const page = new Float64Array(PAGE_DOCUMENTS)
    this.#pages.set(number, page)
    this.#page = page
    return page
  }

  /** Pages with a score, in their order: sums of the same shares are the same to the last bit then. */
  get pages(): readonly (readonly [number: number, page: Float64Array])[] {
    return [...this.#pages].sort(([left], [right]) => left - right)
  }

  /** Calls `visit` for each document with a score, in no order. */
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

/** Scores by the numbers of threads. */
export class Scores extends Map<number, ThreadScores> {
  #number = -1
  #thread: ThreadScores | undefined

  /** The scores of a thread, which are made where there are none. */
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
