import type { ContextRequest, Settings } from '@heddle/contracts'

/** An earlier message related to a request: from another thread of the agent, or from this one outside its window. */
export interface Memory {
  readonly messageId: string
  readonly threadId: string
  /** The name of its thread. */
  readonly thread: string
  /** Whether that is the thread of the context. */
  readonly isOwn: boolean
  /** The reference for recall: short for the context's own thread, otherwise with project and thread. */
  readonly reference: string
  readonly role: string
  /** Its time, in milliseconds since 1970. */
  readonly atMs: number
  /** Relevance to the request: see `byRelevance`. */
  readonly score: number
  /** Its whole text, or the part that is related to the request. */
  readonly text: string
  /** Whether `text` is only a part. */
  readonly isExcerpt: boolean
  /** Whether it is recalled as a lasting instruction, related to the request or not. */
  readonly isInstruction: boolean
}

export interface ContextMemories {
  /** The best first: more than a context may have, since it may already show some of them. */
  readonly found: readonly Memory[]
  readonly outcome: MemoryOutcome
}

export interface MemoryOutcome {
  /** The model of the vectors used in the search; null for a search by words only. */
  readonly model: string | null
  /** Why no search was made; null if one was made. */
  readonly skipped: string | null
  /** Why the search used vectors only in part or not at all; null for a complete search. */
  readonly degraded: string | null
}

/** Limits on a context's memories. */
export type MemoryLimits = Omit<Settings['search']['memories'], 'enabled'>

/** The limits on memories for a request; null if memories are off. */
export function memoryLimits(request: ContextRequest, { search }: Settings): MemoryLimits | null {
  const { enabled, ...limits } = search.memories
  const wanted = request.memories ?? request.scope?.memories ?? enabled
  if (wanted === false || request.scope?.memories === false) return null
  if (wanted === true) return limits
  const { tokensMax = limits.tokensMax, limit = limits.limit, minScore = limits.minScore } = wanted
  const { instructions = limits.instructions } = wanted
  return { ...limits, tokensMax, limit, minScore, instructions }
}

/**
 * Characters of a long question used as a query: its beginning and its end, which usually contain the question itself.
 */
const QUERY_CHARACTERS_MAX = 2_000

export function memoryQuery(text: string): string {
  if (text.length <= QUERY_CHARACTERS_MAX) return text
  const half = QUERY_CHARACTERS_MAX / 2
  return `${text.slice(0, half).toWellFormed()}\n${text.slice(-half).toWellFormed()}`
}
