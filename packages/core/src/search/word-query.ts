/**
 * Weights of the parts of the ranking, relative to 1 for BM25 of the best passage of a document. A part with weight 0 is
 * not computed.
 */
export interface WordWeights {
  /**
   * Share of the scores of the documents one position before and after in the thread, then two positions, and so on: less
   * from long ones, since only a short one depends on those around it.
   */
  readonly neighbours: readonly number[]
  /** Share of the score of the whole thread, as if it were one document. */
  readonly thread: number
  /** Added if the query names the speaker, in the unit of BM25: a rare word scores 5 to 10. */
  readonly speaker: number
  /** Factor for what a model wrote, compared to what people said and tools showed. */
  readonly replies: number
  /** Factor for exact names, such as paths, identifiers, versions and numbers, compared to words. */
  readonly names: number
  /** Added share of the score for a passage that names a time, if the query asks for one. */
  readonly times: number
}

/** Totals over all documents of a scope. */
export interface ScopeStatistics {
  readonly documents: number
  /** Number of terms in all of them. */
  readonly length: number
}

export interface FoundTerm {
  readonly term: string
  /** The term's postings, in any number of lists without common passages. */
  readonly lists: readonly Uint8Array[]
  /** Documents of the speakers that the term names. */
  readonly speakers: readonly Uint8Array[]
  /** Factor of the term's rarity: see `QueryTerm`. */
  readonly weight: number
}

/** Documents of a thread, after one number up to another one. */
export interface SharedDocuments {
  readonly thread: number
  readonly afterSeq: number
  readonly toSeq: number
}

export interface WordQuery {
  readonly terms: readonly FoundTerm[]
  /** Documents that a model may have written: those with `isReply` in their measures count as replies. */
  readonly replies: readonly Uint8Array[]
  readonly asksForTime: boolean
  /** Restricts the results; other documents still count as neighbors. */
  readonly only: {
    readonly thread: number | null
    /** Runs of documents of other threads that `thread` shares, as a fork does. Default: none. */
    readonly shared?: readonly SharedDocuments[] | undefined
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
