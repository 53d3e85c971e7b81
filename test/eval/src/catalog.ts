import type { Measured } from '@heddle/test-support/figure'
import { measureProperty } from './property.js'
import { measurePruning } from './pruning.js'
import { measureSuperseded } from './superseded.js'

/** What one measurement is told from outside. */
export interface Given {
  readonly dataDir: string
  readonly histories: number
}

/** A measurement gives one or more figures, which are measured together. */
export interface Measurement {
  readonly names: readonly string[]
  readonly needsData: boolean
  measure(given: Given): Promise<Measured[]>
}

export const catalog: readonly Measurement[] = [
  {
    names: ['prune.superseded.precision', 'prune.superseded.recall'],
    needsData: true,
    measure: ({ dataDir }) => measureSuperseded(dataDir),
  },
  {
    names: ['prune.recalled', 'prune.storage', 'prune.orphans', 'prune.tokens'],
    needsData: true,
    measure: ({ dataDir }) => measurePruning(dataDir),
  },
  {
    names: ['prune.property'],
    needsData: false,
    measure: ({ histories }) => measureProperty(histories),
  },
]
