import type { Settings } from '@heddle/contracts'
import type { CoverageRange } from '../compaction/coverage.js'
import type { Message } from '../conversation/message.js'
import { defineStrategy } from './define.js'
import type { ContextStrategy } from './strategy.js'

/** The default (docs/strategies.md): the first and the newest messages stay, and those between them are summarized. */
export function createSandwich({ sandwich }: Settings): ContextStrategy {
  return defineStrategy({ name: 'sandwich', key: '', ...sandwich, planCoverage: coverMiddle(sandwich) })
}

/** The range between the first and the newest messages, or null. */
export function coverMiddle(kept: {
  preserveTop: number
  preserveBottom: number
}): (seen: readonly Message[]) => CoverageRange | null {
  return (seen) =>
    seen.length <= kept.preserveTop + kept.preserveBottom
      ? null
      : { start: kept.preserveTop, end: seen.length - kept.preserveBottom }
}
