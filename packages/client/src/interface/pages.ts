/** Selects a page of a list. */
export interface PageOptions {
  /** Maximum number of entries. */
  readonly limit?: number
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
  /** @deprecated The former name of `cursor`. */
  readonly after?: string | undefined
}

/** Default timeout of a call, in milliseconds. */
export const DEADLINE_MS_DEFAULT = 30_000

/** A page of a list; `nextCursor` is the `cursor` for the next page, and null on the last. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}
