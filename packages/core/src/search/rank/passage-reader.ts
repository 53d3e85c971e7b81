import { PASSAGES_MAX } from '../passages.js'
import type { TermRun } from './scored-term.js'

/** After the last passage of a term. */
const ENDED = Number.POSITIVE_INFINITY

/**
 * The passages of one thread that contain a term of the query, in order, each with the sums over its terms. The postings of
 * the terms are read side by side, so nothing is stored for a passage: a frequent term has many thousands.
 */
export class PassageReader {
  seq = 0
  passage = 0
  score = 0
  /** The weight of its terms among all of the query. */
  share = 0
  /** All but the frequency is the same for each term. */
  measure = 0

  #terms: TermPassages[] = []
  /** The next passage of each term as one number. */
  #places = new Float64Array()

  /** @param runs of one thread, those of one term together; sums are in this order, so that they are always the same */
  constructor(runs: readonly TermRun[]) {
    for (let from = 0; from < runs.length; ) {
      const of = runs[from]?.of
      let to = from
      while (to < runs.length && runs[to]?.of === of) to++
      this.#terms.push(new TermPassages(runs.slice(from, to)))
      from = to
    }
    this.#places = Float64Array.from(this.#terms, (term) => term.place)
  }

  /** Goes to the next passage; false after the last one. */
  next(): boolean {
    const places = this.#places
    let place = ENDED
    for (let index = 0; index < places.length; index++) {
      const other = places[index] as number
      if (other < place) place = other
    }
    if (place === ENDED) return false
    this.passage = place % PASSAGES_MAX
    this.seq = (place - this.passage) / PASSAGES_MAX
    this.score = 0
    this.share = 0
    for (let index = 0; index < places.length; index++) {
      if (places[index] !== place) continue
      const term = this.#terms[index] as TermPassages
      this.measure = term.measure
      this.score += term.scoreOf[term.measure] as number
      this.share += term.rarity
      places[index] = term.next()
    }
    return true
  }
}

/** The passages of one term in one thread, in order. */
class TermPassages {
  readonly scoreOf: Float64Array
  readonly rarity: number
  place = ENDED
  readonly #seqs: Float64Array
  readonly #passages: Uint16Array
  readonly #measures: Uint8Array
  readonly #runs: readonly TermRun[]
  #run = 0
  #index = 0
  #end = 0

  constructor(runs: readonly TermRun[]) {
    const [first] = runs
    if (first === undefined) throw new Error('a term has at least one run')
    const { scoreOf, rarity, postings } = first.of
    this.scoreOf = scoreOf
    this.rarity = rarity
    this.#seqs = postings.seqs
    this.#passages = postings.passages
    this.#measures = postings.measures
    this.#runs = runs
    this.#index = first.from
    this.#end = first.to
    this.place = this.#placeAt(this.#index)
  }

  get measure(): number {
    return this.#measures[this.#index] as number
  }

  /** @returns the next passage as one number */
  next(): number {
    this.#index++
    if (this.#index === this.#end) {
      const run = this.#runs[++this.#run]
      if (run === undefined) return ENDED
      this.#index = run.from
      this.#end = run.to
    }
    return this.#placeAt(this.#index)
  }

  #placeAt(index: number): number {
    return (this.#seqs[index] as number) * PASSAGES_MAX + (this.#passages[index] as number)
  }
}
