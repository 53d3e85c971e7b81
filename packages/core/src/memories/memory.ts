import type { ContextRequest, Settings } from '@heddle/contracts'

/** An earlier message that a request is about: of another thread of the agent, or of this one and not in its window. */
export interface Memory {
  readonly messageId: string
  readonly threadId: string
  /** The name of its thread. */
  readonly thread: string
  /** Whether that is the thread of the context. */
  readonly isOwn: boolean
  /** What brings all of it back: short for the context's own thread, else with project and thread. */
  readonly reference: string
  readonly role: string
  /** Its place in time, in milliseconds since 1970. */
  readonly atMs: number
  /** How much of what the request asks for it is about: see `byRelevance`. */
  readonly score: number
  /** All that it says, or the part that the request is about. */
  readonly text: string
  /** Whether `text` is a part. */
  readonly isExcerpt: boolean
}

/** What was recalled for one context. */
export interface ContextMemories {
  /** The best first: more than a context may have, since some of them may turn out to stand in it already. */
  readonly found: readonly Memory[]
  readonly outcome: MemoryOutcome
}

export interface MemoryOutcome {
  /** The model of the vectors that took part in the search; null where words alone did. */
  readonly model: string | null
  /** Why nothing was searched; null where a search took place. */
  readonly skipped: string | null
  /** Why meaning took no part in the search, or only in part; null where nothing is amiss. */
  readonly degraded: string | null
}

/** Bounds of a context's memories. */
export type MemoryLimits = Omit<Settings['search']['memories'], 'enabled'>

/** The bounds within which a request wants memories; null where it wants none. */
export function memoryLimits(request: ContextRequest, { search }: Settings): MemoryLimits | null {
  const { enabled, ...limits } = search.memories
  const wanted = request.memories ?? request.scope?.memories ?? enabled
  if (wanted === false || request.scope?.memories === false) return null
  if (wanted === true) return limits
  const { tokensMax = limits.tokensMax, limit = limits.limit, minScore = limits.minScore } = wanted
  return { ...limits, tokensMax, limit, minScore }
}

/** Characters of a long question that are searched with: its beginning and its end, where people ask. */
const QUERY_CHARACTERS_MAX = 2_000

export function memoryQuery(text: string): string {
  if (text.length <= QUERY_CHARACTERS_MAX) return text
  const half = QUERY_CHARACTERS_MAX / 2
  return `${text.slice(0, half).toWellFormed()}\n${text.slice(-half).toWellFormed()}`
}
