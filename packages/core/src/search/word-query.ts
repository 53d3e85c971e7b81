/**
 * What the parts of the ranking count for, beside a score of 1 times BM25 for the document's own words. A part with the
 * weight 0 is left out.
 */
export interface WordWeights {
  /** A share of the score of the documents one place before and after in the thread, then two places, and so on. */
  readonly neighbours: readonly number[]
  /** A share of the score of the whole thread, as if it were one document. */
  readonly thread: number
  /** Added where the query names who speaks, in the unit of BM25: a rare word scores 5 to 10. */
  readonly speaker: number
}

/** All documents of a scope. */
export interface ScopeStatistics {
  readonly documents: number
  /** Terms in all of them. */
  readonly length: number
}

export interface FoundTerm {
  /** The term's postings, in any number of lists that share no document. */
  readonly lists: readonly Uint8Array[]
  /** What those have said whom the term names. */
  readonly speakers: readonly Uint8Array[]
}

export interface WordQuery {
  readonly terms: readonly FoundTerm[]
  /** What documents must be to be given back; those that are not count as neighbours all the same. */
  readonly only: {
    /** Null for all threads. */
    readonly thread: number | null
    /** A document must stand in one list of each. */
    readonly conditions: readonly (readonly Uint8Array[])[]
  }
  readonly scope: ScopeStatistics
  /** Terms in each thread that one of the lists names. */
  readonly threadLengths: ReadonlyMap<number, number>
  readonly weights: WordWeights
  /** Documents to give back at most. */
  readonly limit: number
}

/** A document by the number of its thread and its `seq`, with its score. */
export interface RankedDocument {
  readonly thread: number
  readonly seq: number
  readonly score: number
}

export interface Ranking {
  /** The best first. */
  readonly documents: readonly RankedDocument[]
  /** Documents with a score, of which there may be more than were asked for. */
  readonly found: number
}
