import type { Settings } from '@heddle/contracts'
import { defineStrategy } from './define.js'
import { coverMiddle } from './sandwich.js'
import type { ContextStrategy } from './strategy.js'

/**
 * Tree (docs/strategies.md#summaries-by-levels): keeps the same messages as the sandwich, and summarizes those between
 * hierarchically. Leaves of raw messages have summaries of their own, and so do groups of parts; only changed parts are
 * summarized again.
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
