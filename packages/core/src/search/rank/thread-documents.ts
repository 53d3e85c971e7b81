import { isDated, isReply, lengthOf } from '../measure.js'
import { doubled } from './doubled.js'
import type { PassageReader } from './passage-reader.js'

/** A message of this many terms gives half as much to its neighbours as a very short one. */
const GIVER_LENGTH = 100
const CAPACITY_LEAST = 1_024

/** The share of a passage's score that remains if it has only this share of the query's weight. */
export function coverage(share: number): number {
  return Math.sqrt(Math.sqrt(share))
}

/** The share of its score that a document gives, besides the shares by distance. */
export function givenShare(measure: number): number {
  return given[measure] as number
}

const given = Float64Array.from({ length: 256 }, (_, measure) => 1 / (1 + lengthOf(measure) / GIVER_LENGTH))

export interface DocumentWeights {
  /** Weights of all terms of the query. */
  readonly weightOfAll: number
  readonly neighbours: readonly number[]
  /** Factor of what a reply gives: it is scored lower than others, and those beside it would be found before it. */
  readonly ofReply: number
}

/**
 * The documents of one thread that have a term of the query, in order, each by its best passage. One object serves all
 * threads, one after another, since arrays for each would be most of the memory that a search allocates.
 */
export class ThreadDocuments {
  #seqs = new Float64Array(CAPACITY_LEAST)
  #own = new Float64Array(CAPACITY_LEAST)
  #given = new Float64Array(CAPACITY_LEAST)
  #dated = new Uint8Array(CAPACITY_LEAST)
  #count = 0

  constructor(readonly weights: DocumentWeights) {}

  /** Replaces all documents by those of another thread. */
  read(passages: PassageReader): void {
    const { weightOfAll, ofReply } = this.weights
    this.#count = 0
    let last = -1
    while (passages.next()) {
      const { seq, measure } = passages
      const covered = passages.score * coverage(passages.share / weightOfAll)
      const gives = covered * givenShare(measure) * (isReply(measure) ? ofReply : 1)
      if (last < 0 || this.#seqs[last] !== seq) last = this.#add(seq)
      if (covered > (this.#own[last] as number)) this.#own[last] = covered
      if (gives > (this.#given[last] as number)) this.#given[last] = gives
      if (isDated(measure)) this.#dated[last] = 1
    }
  }

  /**
   * Calls `visit` for each document with a score, and for those beside them, in order.
   *
   * `sum`: its score with the shares of its neighbours; `own`: by its own words alone, 0 for one beside them.
   */
  each(visit: (seq: number, sum: number, own: number, isDated: boolean) => void): void {
    const { neighbours } = this.weights
    const [seqs, own, gives] = [this.#seqs, this.#own, this.#given]
    const distanceMax = neighbours.length
    let from = 0
    let next = 1
    for (let at = 0; at < this.#count; at++) {
      const last = (seqs[at] as number) + distanceMax
      for (let seq = Math.max(next, (seqs[at] as number) - distanceMax); seq <= last; seq++) {
        while ((seqs[from] as number) < seq - distanceMax) from++
        let self = from
        while (self < this.#count && (seqs[self] as number) < seq) self++
        const isFound = self < this.#count && seqs[self] === seq
        let sum = isFound ? (own[self] as number) : 0
        for (let giver = from; giver < this.#count; giver++) {
          const distance = Math.abs((seqs[giver] as number) - seq)
          if (distance > distanceMax) break
          if (giver !== self || !isFound) sum += (neighbours[distance - 1] as number) * (gives[giver] as number)
        }
        if (sum > 0) visit(seq, sum, isFound ? (own[self] as number) : 0, isFound && this.#dated[self] === 1)
      }
      next = last + 1
    }
  }

  #add(seq: number): number {
    const index = this.#count++
    if (index === this.#seqs.length) {
      this.#seqs = doubled(this.#seqs)
      this.#own = doubled(this.#own)
      this.#given = doubled(this.#given)
      const dated = new Uint8Array(2 * this.#dated.length)
      dated.set(this.#dated)
      this.#dated = dated
    }
    this.#seqs[index] = seq
    this.#own[index] = 0
    this.#given[index] = 0
    this.#dated[index] = 0
    return index
  }
}
