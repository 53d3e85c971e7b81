/** A model that reads texts beside a query, with the bounds of a search. */
export interface SearchReranker {
  /** The first results that it reads. */
  readonly candidates: number
  /** Longest wait of a search for it, in milliseconds, with its opening. */
  readonly timeoutMs: number
  /** @returns null if it is off */
  open(): Promise<{
    readonly model: string
    score(query: string, texts: readonly string[], signal?: AbortSignal): Promise<number[]>
  } | null>
}
