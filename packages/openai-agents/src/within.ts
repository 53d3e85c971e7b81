import type { AgentInputItem } from '@openai/agents-core'

const CHARACTERS_PER_TOKEN = 4

/**
 * The newest turns of a history within a budget, for the time in which no context can be built. Tokens are estimated. A turn
 * begins with a message of the user, so calls stay with their results; the last turn is there in any case.
 */
export function newestWithin(items: readonly AgentInputItem[], budget: number): AgentInputItem[] {
  let tokens = 0
  let first: number | null = null
  for (const [index, item] of [...items.entries()].reverse()) {
    tokens += Math.ceil(JSON.stringify(item).length / CHARACTERS_PER_TOKEN)
    if (tokens > budget && first !== null) return items.slice(first)
    if ('role' in item && item.role === 'user') first = index
  }
  return [...items]
}
