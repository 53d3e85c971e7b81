import { defineStrategy } from './define.js'
import type { ContextStrategy } from './strategy.js'

/** Full history (docs/strategies.md): never compacts, for models with huge windows. */
export function createFullHistory(): ContextStrategy {
  return defineStrategy({ name: 'full-history', key: '' })
}
