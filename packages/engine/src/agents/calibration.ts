import type { Calibration, Page } from '@heddle/client/interface'
import { agentParamsSchema, parse } from '@heddle/contracts'
import { type CalibrationRow, listCalibrations } from '@heddle/store'
import { loadAgentOr } from '../items/items.js'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

/**
 * How providers count the requests of an agent, by model.
 *
 * @throws PermanentError `NOT_FOUND` for an unknown agent
 */
export async function listCalibrationsOf(
  { store, projectId }: EngineContext,
  name: string,
): Promise<Page<Calibration>> {
  const { agent } = parse(agentParamsSchema, { agent: name }, 'agent')
  const rows = await store.inProject(projectId, async (tx) => {
    const { agentId } = await loadAgentOr(tx, agent)
    return await listCalibrations(tx, { agentId })
  })
  return { items: rows.map(toCalibration), nextCursor: null }
}

function toCalibration(row: CalibrationRow): Calibration {
  const { model, provider, ratio, offset, margin, kinds } = row
  return {
    model,
    provider,
    ratio,
    offset,
    margin,
    changedAt: isoTime(row.changedAtMs),
    learnt: {
      ratio: rounded(row.learntRatio),
      offset: row.learntOffset,
      margin: rounded(row.learntMargin),
      samples: row.samples,
      at: isoTime(row.learntAtMs),
    },
    kinds: Object.entries(kinds).map(([kind, one]) => ({ kind, ratio: rounded(one.ratio), samples: one.samples })),
  }
}

const rounded = (value: number) => Math.round(value * 1_000) / 1_000
