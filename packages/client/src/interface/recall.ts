import type { SearchKind } from '@heddle/contracts'

/** An archived content, without the content: `client.recall` brings that back by its `ref`. */
export interface ArchiveHit {
  readonly ref: string
  readonly messageId: string
  readonly sourceId: string | null
  readonly thread: string
  readonly kind: string
  readonly toolName: string | null
  readonly filePaths: readonly string[]
  readonly failed: boolean
  /** The line that stands for it in contexts, else its summary. */
  readonly text: string
  readonly summary: string
  readonly tokenCount: number
  /** The message's place in time, as ISO 8601. */
  readonly at: string
  readonly archivedAt: string
  readonly accessCount: number
  readonly lastAccessedAt: string | null
}

/** What a search of the archive found: see {@link SearchResult}. */
export interface ArchiveSearchResult extends Omit<SearchResult, 'items'> {
  /** The best first. */
  readonly items: readonly (ArchiveHit & { readonly score: number })[]
}

/** A message beside a hit. */
export interface Neighbour {
  readonly messageId: string
  readonly role: string
  readonly text: string
}

/** What a hit shows of itself and of what stands around it. */
export interface Excerpts {
  /** Up to 500 characters around the words that were found. */
  readonly text: string
  /** The message that was stored before it; null where it is the first. */
  readonly before: Neighbour | null
  /** The message that was stored after it; null where it is the last. */
  readonly after: Neighbour | null
}

/** A message that a search found. `client.recall` brings all of it back by its `ref`. */
export interface SearchHit extends Excerpts {
  readonly messageId: string
  readonly sourceId: string | null
  readonly thread: string
  readonly ref: string
  readonly kind: SearchKind
  /** Higher is better; scores of two searches cannot be compared. */
  readonly score: number
  /** The message's place in time, as ISO 8601. */
  readonly at: string
}

export interface SearchResult {
  /** The best first. */
  readonly items: readonly SearchHit[]
  /** Whether all that may meet the conditions was looked at; narrower ones, such as a thread, help where it was not. */
  readonly isComplete: boolean
  /** The model of the vectors that took part in the ranking; null where words alone did. */
  readonly model: string | null
  /**
   * How vectors were compared: `exact`, one by one in the memory of a process, or by the index of `pgvector`, which may miss
   * some of what is near; null where words alone ranked.
   */
  readonly comparedBy: 'exact' | 'pgvector' | null
  /** Why vectors took no part though they were wanted, or only in part; null where nothing is amiss. */
  readonly degraded: string | null
}
