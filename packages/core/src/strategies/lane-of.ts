import { createHash } from 'node:crypto'
import { defaultSettings, type Settings } from '@heddle/contracts'
import { type Lane, laneParts } from '../compaction/lane.js'
import { carriesReasoning } from '../formats/index.js'
import { strategyOf } from './registry.js'
import type { ContextStrategy } from './strategy.js'

/** @throws PermanentError `VALIDATION_ERROR` if this process does not know the strategy */
export function laneOf(settings: Settings): Lane<ContextStrategy> {
  const strategy = strategyOf(settings)
  const { tools, ...parts } = laneParts(settings)
  const { limitTokens, prune, maxSummaryTokens, compactTo, tree, calibration } = parts
  const hashed = {
    strategy: settings.strategy,
    limitTokens,
    prune,
    sandwich: settings.sandwich,
    maxSummaryTokens,
    // A default is omitted, so that keys from before the setting existed, and the states stored under them, stay valid.
    ...(compactTo !== defaultSettings.compactTo && { compactTo }),
    ...(tools.length > 0 && { tools }),
    ...(!isDefault(tree) && { tree }),
    ...(calibration !== undefined && { calibration }),
    ...(strategy.key !== '' && { key: strategy.key }),
    ...(settings.format !== null && !carriesReasoning(settings.format) && { reasoning: false }),
  }
  const hash = createHash('sha256').update(JSON.stringify(hashed)).digest('hex').slice(0, 12)
  return { key: `${settings.strategy}-${hash}`, strategy, ...parts, tools }
}

function isDefault({ leafTokens, fanOut }: Lane['tree']): boolean {
  return leafTokens === defaultSettings.tree.leafTokens && fanOut === defaultSettings.tree.fanOut
}
