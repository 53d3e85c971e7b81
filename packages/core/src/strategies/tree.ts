import type { Settings } from '@heddle/contracts'
import { defineStrategy } from './define.js'
import { coverMiddle } from './sandwich.js'
import type { ContextStrategy } from './strategy.js'

/**
 * Tree (docs/strategies.md#summaries-by-levels): keeps what the sandwich keeps, and summarizes what is between by levels. Leaves of raw messages have
 * summaries of their own, and so have parts of parts; only what changed is summarized again.
 */
export function createTree({ tree }: Settings): ContextStrategy {
  const { preserveTop, preserveBottom, compressionThreshold } = tree
  return defineStrategy({
    name: 'tree',
    key: JSON.stringify(tree),
    preserveTop,
    preserveBottom,
    compressionThreshold,
    summaryParts: 'always',
    planCoverage: coverMiddle(tree),
  })
}
