import type { StrategyKit } from '@heddle/core'

/**
 * A strategy of one's own: the last two requests of the user stay word for word with all that was done for them, and what
 * came before is summarized as soon as it takes half of the budget.
 *
 * A strategy says which range a summary covers. Cuts within a turn move to its edges, pins stay, tool calls keep their
 * results, and every message stands in the receipt, whatever a strategy asks for.
 */
export default function register({ defineStrategy, registerStrategy }: StrategyKit): void {
  registerStrategy('two-requests', () =>
    defineStrategy({
      name: 'two-requests',
      preserveTop: 1,
      preserveBottom: 2,
      compressionThreshold: 0.5,
      planCoverage(seen) {
        const requests = seen.flatMap((message, index) => (message.role === 'user' ? [index] : []))
        const end = requests.at(-2)
        return end === undefined ? null : { start: 1, end: Math.min(end, seen.length - 2) }
      },
    }),
  )
}
