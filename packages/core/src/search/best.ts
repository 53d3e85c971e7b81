import { nthLargest } from './nth-largest.js'
import type { RankedDocument } from './word-query.js'

/** Candidates for the best are thinned out when there are so many times more of them than are wanted. */
const SLACK = 4
const SLACK_LEAST = 1_000

/**
 * The best of many documents, of which most are passed by with one comparison: once there are enough of them, whoever
 * scores less than the last of these is out. Documents of one score are told apart by where they stand, so none of those goes.
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
    // Many of one score: without more room each further one of them would be looked at again.
    this.#room = Math.max(this.#room, 2 * this.#documents.length)
  }
}
