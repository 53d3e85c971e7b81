import {
  addStrategyName,
  type builtInStrategies,
  type Settings,
  type StrategyName,
  strategyNames,
  validationError,
} from '@heddle/contracts'
import { defineStrategy } from './define.js'
import { createFullHistory } from './full-history.js'
import { createIterations } from './iterations.js'
import { createSandwich } from './sandwich.js'
import { createSlidingWindow } from './sliding-window.js'
import type { ContextStrategy } from './strategy.js'
import { createTree } from './tree.js'

/** Makes a strategy of the settings of a thread or a request. Pure, and called often. */
export type StrategyMaker = (settings: Settings) => ContextStrategy

const builtIn: Readonly<Record<(typeof builtInStrategies)[number], StrategyMaker>> = {
  sandwich: createSandwich,
  'sliding-window': createSlidingWindow,
  'full-history': createFullHistory,
  tree: createTree,
  iterations: createIterations,
}
const makers = new Map<StrategyName, StrategyMaker>(Object.entries(builtIn))

/**
 * Adds a strategy under a name of one's own, for all agents and requests of this process. To be called while a process
 * starts, and alike in each that plans or builds: workers and clients.
 *
 * @throws PermanentError `VALIDATION_ERROR` for a name that is taken
 */
export function registerStrategy(name: StrategyName, make: StrategyMaker): void {
  addStrategyName(name)
  makers.set(name, make)
}

/** What a module of strategies is given, so that it needs to find no package of Heddle to register them. */
export interface StrategyKit {
  readonly defineStrategy: typeof defineStrategy
  readonly registerStrategy: typeof registerStrategy
}

export const strategyKit: StrategyKit = { defineStrategy, registerStrategy }

/** @throws PermanentError `VALIDATION_ERROR` where this process knows no such strategy, as with a setting of another one */
export function strategyOf(settings: Settings): ContextStrategy {
  const make = makers.get(settings.strategy)
  if (make) return make(settings)
  throw validationError(
    'strategy',
    `must be one of ${strategyNames().join(', ')}`,
    settings.strategy,
    'register the strategy in every process that uses it',
  )
}
