import type { RankedDocument } from '../word-query.js'
import { doubled } from './doubled.js'
import { nthLargest } from './nth-largest.js'

/** Candidates are thinned out when there are this many times as many as are wanted. */
const SLACK = 4
const SLACK_LEAST = 1_000

/**
 * The best of many documents, most of which are rejected with one comparison: once there are enough candidates, a
 * document that scores less than the last of them is out. Documents with equal scores are ordered by position, so none
 * of those is rejected early.
 */
export class BestDocuments {
  #threads: Float64Array
  #seqs: Float64Array
  #scores: Float64Array
  #count = 0
  #least = Number.NEGATIVE_INFINITY

  constructor(readonly limit: number) {
    const capacity = SLACK * limit + SLACK_LEAST
    this.#threads = new Float64Array(capacity)
    this.#seqs = new Float64Array(capacity)
    this.#scores = new Float64Array(capacity)
  }

  add(thread: number, seq: number, score: number): void {
    if (score < this.#least) return
    const index = this.#count++
    this.#threads[index] = thread
    this.#seqs[index] = seq
    this.#scores[index] = score
    if (this.#count === this.#scores.length) this.#thin()
  }

  /** The best first. The same documents give the same order. */
  take(): RankedDocument[] {
    if (this.#count > this.limit) this.#thin()
    return Array.from({ length: this.#count }, (_, index) => ({
      thread: this.#threads[index] as number,
      seq: this.#seqs[index] as number,
      score: this.#scores[index] as number,
    }))
      .sort((left, right) => right.score - left.score || right.thread - left.thread || right.seq - left.seq)
      .slice(0, this.limit)
  }

  #thin(): void {
    const least = nthLargest(this.#scores.slice(0, this.#count), this.limit)
    const count = this.#count
    this.#count = 0
    for (let index = 0; index < count; index++) {
      const score = this.#scores[index] as number
      if (score < least) continue
      const to = this.#count++
      this.#threads[to] = this.#threads[index] as number
      this.#seqs[to] = this.#seqs[index] as number
      this.#scores[to] = score
    }
    this.#least = least
    // If many candidates have equal scores, the capacity grows, so that not every further one triggers a new selection.
    if (2 * this.#count <= this.#scores.length) return
    this.#threads = doubled(this.#threads)
    this.#seqs = doubled(this.#seqs)
    this.#scores = doubled(this.#scores)
  }
}
