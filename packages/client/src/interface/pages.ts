/** Which page of a list is meant. */
export interface PageOptions {
  /** Entries of the page, at most. */
  readonly limit?: number
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined
  /** @deprecated The name that `cursor` had. */
  readonly after?: string | undefined
}

/** How long a call waits for its answer unless it says otherwise, in milliseconds. */
export const DEADLINE_MS_DEFAULT = 30_000

/** A page of a list; `nextCursor` is what the next page is asked for with, as `cursor`, and null on the last. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}
