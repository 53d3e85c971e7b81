import { defineStrategy } from './define.js'
import type { ContextStrategy } from './strategy.js'

/** Spec 003's full history: never compacts, for models with huge windows. */
export function createFullHistory(): ContextStrategy {
  return defineStrategy({ name: 'full-history', key: '' })
}
