/** A tool's result inside an entry whose text may be replaced. */
export interface ResultPlace {
  /** Names of fields and positions from the entry to the text: `['content', 1, 'content']`. */
  readonly path: readonly (string | number)[]
  readonly callId: string
  readonly text: string
}

/** Facts of one entry of a conversation; they depend on the entry alone. */
export interface EntryFacts {
  /** Hash of the entry without marks for the cache; equal for two spellings of one text. */
  readonly hash: string
  /** Estimated. */
  readonly tokens: number
  /** Instructions before a conversation are never covered. */
  readonly kind: 'instruction' | 'user' | 'assistant' | 'results'
  /** Calls of tools that wait for a result. */
  readonly calls: readonly { readonly id: string; readonly name: string }[]
  readonly resultIds: readonly string[]
  /** Whether the provider accepts it only before the entry that follows it, such as reasoning before its call. */
  readonly isBoundToNext: boolean
  /** Whether the provider shortened the conversation here by itself. */
  readonly isOwnCompaction: boolean
  /** The results whose text may be replaced, with their estimated sizes. */
  readonly results: readonly (Omit<ResultPlace, 'text'> & { readonly tokens: number })[]
  /** Marks of Anthropic's cache in it. */
  readonly cacheMarks: number
  /** Whether one of them asks for an hour. */
  readonly hasHourMark: boolean
}

/** An entry as one protocol reads it, before it is hashed. */
export interface ReadEntry extends Omit<EntryFacts, 'hash' | 'tokens' | 'cacheMarks' | 'hasHourMark' | 'results'> {
  /** Results whose text may be replaced: successful ones that are texts. */
  readonly results: readonly ResultPlace[]
}

/** An entry with its place in a request. */
export interface Entry extends EntryFacts {
  readonly index: number
  /** Its first byte in the body, and the position after its last. */
  readonly from: number
  readonly to: number
  /** Hash of the entries up to this one, and this one. Without the head, which clients change within a conversation. */
  readonly chain: string
  /** Entries before it with the same hash. */
  readonly occurrence: number
}
