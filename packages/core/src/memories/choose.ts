import type { Memory } from './memory.js'

export interface MemoryChoice {
  /** The best first. */
  readonly found: readonly Memory[]
  /** Maximum number of memories. */
  readonly limit: number
  /** Memories with a lower score are unrelated to the request. */
  readonly minScore: number
  /** Maximum tokens of all memories together. */
  readonly tokensMax: number
  readonly cost: (memory: Memory) => number
  /** Whether the context shows the message anyway. */
  readonly isHeld: (memory: Memory) => boolean
}

export interface ChosenMemories {
  readonly chosen: readonly Memory[]
  /** The others, each with the reason. */
  readonly leftOut: readonly { readonly memory: Memory; readonly reason: string }[]
}

/** Memories that score below this share of the best are hardly related to the request. */
const SCORE_SHARE_MIN = 0.4

/** Chooses the memories of a context: the best first, whole ones only, each text once, within the limits. */
export function chooseMemories({ found, limit, minScore, tokensMax, cost, isHeld }: MemoryChoice): ChosenMemories {
  const candidates = found.filter((memory) => !isHeld(memory))
  const best = Math.max(0, ...candidates.filter(({ isInstruction }) => !isInstruction).map(({ score }) => score))
  const texts = new Set<string>()
  const chosen: Memory[] = []
  let tokens = 0
  const refusal = (memory: Memory): string | null => {
    if (isHeld(memory)) return 'the context shows it anyway'
    if (texts.has(memory.text)) return 'has the same text as a better one'
    if (!memory.isInstruction && memory.score < minScore)
      return `unrelated to the request: its score is below ${minScore}`
    if (!memory.isInstruction && memory.score < SCORE_SHARE_MIN * best) return 'scored far below the best'
    if (chosen.length >= limit) return `beyond the ${limit} best`
    if (cost(memory) > tokensMax - tokens) return `does not fit the ${tokensMax} tokens for memories`
    return null
  }
  const leftOut: { memory: Memory; reason: string }[] = []
  for (const memory of found) {
    const reason = refusal(memory)
    if (reason !== null) {
      leftOut.push({ memory, reason })
      continue
    }
    tokens += cost(memory)
    texts.add(memory.text)
    chosen.push(memory)
  }
  return { chosen, leftOut }
}
