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

/** Makes a strategy from the settings of a thread or a request. Pure, and called often. */
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
 * Adds a custom strategy for all agents and requests of this process. To be called at startup, with the same definition
 * in each process that plans or builds: workers and clients.
 *
 * @throws PermanentError `VALIDATION_ERROR` for a name that is taken
 */
export function registerStrategy(name: StrategyName, make: StrategyMaker): void {
  addStrategyName(name)
  makers.set(name, make)
}

/** Passed to a module of strategies, so that it can register them without importing a package of Heddle. */
export interface StrategyKit {
  readonly defineStrategy: typeof defineStrategy
  readonly registerStrategy: typeof registerStrategy
}

export const strategyKit: StrategyKit = { defineStrategy, registerStrategy }

/** @throws PermanentError `VALIDATION_ERROR` if this process knows no such strategy */
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
