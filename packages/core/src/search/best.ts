import { nthLargest } from './nth-largest.js'
import type { RankedDocument } from './word-query.js'

/** Candidates are thinned out when there are this many times as many as are wanted. */
const SLACK = 4
const SLACK_LEAST = 1_000

/**
 * The best of many documents, most of which are rejected with one comparison: once there are enough candidates, a
 * document that scores less than the last of them is out. Documents with equal scores are ordered by position, so none
 * of those is rejected early.
 */
export class BestDocuments {
  #documents: RankedDocument[] = []
  #least = Number.NEGATIVE_INFINITY
  #room: number

  constructor(readonly limit: number) {
    this.#room = SLACK * limit + SLACK_LEAST
  }

  add(thread: number, seq: number, score: number): void {
    if (score < this.#least) return
    this.#documents.push({ thread, seq, score })
    if (this.#documents.length > this.#room) this.#thin()
  }

  /** The best first. The same documents give the same order. */
  take(): RankedDocument[] {
    if (this.#documents.length > this.limit) this.#thin()
    return this.#documents
      .sort((left, right) => right.score - left.score || right.thread - left.thread || right.seq - left.seq)
      .slice(0, this.limit)
  }

  #thin(): void {
    const scores = Float64Array.from(this.#documents, ({ score }) => score)
    const least = nthLargest(scores, this.limit)
    this.#documents = this.#documents.filter(({ score }) => score >= least)
    this.#least = least
    // If many candidates have equal scores, the capacity grows, so that not every further one triggers a new selection.
    this.#room = Math.max(this.#room, 2 * this.#documents.length)
  }
}
