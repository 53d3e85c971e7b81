/**
 * Weights of the parts of the ranking, relative to 1 for BM25 of the document's own words. A part with weight 0 is not
 * computed.
 */
export interface WordWeights {
  /**
   * Share of the scores of the documents one position before and after in the thread, then two positions, and so on.
   */
  readonly neighbours: readonly number[]
  /** Share of the score of the whole thread, as if it were one document. */
  readonly thread: number
  /** Added if the query names the speaker, in the unit of BM25: a rare word scores 5 to 10. */
  readonly speaker: number
}

/** Totals over all documents of a scope. */
export interface ScopeStatistics {
  readonly documents: number
  /** Number of terms in all of them. */
  readonly length: number
}

export interface FoundTerm {
  /** The term's postings, in any number of lists without common documents. */
  readonly lists: readonly Uint8Array[]
  /** Documents of the speakers that the term names. */
  readonly speakers: readonly Uint8Array[]
}

export interface WordQuery {
  readonly terms: readonly FoundTerm[]
  /** Restricts the results; other documents still count as neighbors. */
  readonly only: {
    readonly thread: number | null
    /** A document must be in one list of each. */
    readonly conditions: readonly (readonly Uint8Array[])[]
  }
  readonly scope: ScopeStatistics
  /** Number of terms in each thread that one of the lists names. */
  readonly threadLengths: ReadonlyMap<number, number>
  readonly weights: WordWeights
  /** Maximum number of results. */
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
  /** Number of documents with a score, possibly more than the limit. */
  readonly found: number
}
