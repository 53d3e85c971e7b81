import { strategyNames } from '@heddle/contracts'
import { type StrategyKit, strategyKit } from '@heddle/core'

/** The name of the strategy of the example in the docs. */
export const OWN_STRATEGY = 'two-requests'

/** Registers it with the example's export, unless another test file of this process has done so. */
export function registerOnce(register: (kit: StrategyKit) => void): void {
  if (!strategyNames().includes(OWN_STRATEGY)) register(strategyKit)
}
