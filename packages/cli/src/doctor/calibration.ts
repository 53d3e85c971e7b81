import type { AgentCalibration } from '@heddle/store'
import { type Check, passed } from './check.js'

export const CALIBRATIONS_READ_MAX = 3

/** How providers count beside us, for the agents for which it differs most. */
export function calibrationCheck(learnt: readonly AgentCalibration[], isEnabled: boolean): Check {
  const name = 'calibration'
  if (!isEnabled) return passed(name, 'off: windows are divided by the margin of their model alone')
  if (learnt.length === 0) return passed(name, 'nothing learnt yet from the usage of replies')
  return passed(name, learnt.map(describe).join('; '))
}

function describe({ agent, model, ratio, offset, margin }: AgentCalibration): string {
  return `agent "${agent}", "${model}": ${ratio.toFixed(2)} for one of our tokens, ${offset} besides, margin ${Math.round(100 * margin)} %`
}
