import { limits, type PartialSettings, PermanentError } from '@heddle/contracts'
import { laneOf } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { type Compaction, compactionIn, settingsIn } from './compaction.js'
import { dropKeptLane, forgetKeptLane, type KeptLaneRow, type KeptUsage } from './kept-lanes.js'

/** The progress of a kept lane. */
export interface KeptCompaction extends Compaction {
  /** Null until the prune stage has settled the lane for the first time. */
  readonly usage: KeptUsage | null
}

/**
 * The kept lanes of a thread that are compacted: the latest requested ones. A lane is passed over if its settings no longer
 * lead to it, because those of the agent changed: the next request records its successor.
 *
 * @param own the compaction of the thread's own lane
 * @param settings of the file and the environment
 */
export async function loadKeptCompactions(
  tx: Tx,
  own: Compaction,
  rows: readonly KeptLaneRow[],
  settings: PartialSettings,
): Promise<KeptCompaction[]> {
  const { kept } = divideKept(own, rows)
  const found = await Promise.all(
    kept.map(async (row): Promise<KeptCompaction | null> => {
      const merged = settingsIn(own.thread, settings, row.settings)
      const lane = laneIfKnown(merged)
      if (lane?.key !== row.lane) return null
      return { ...(await compactionIn(tx, own.thread, merged, lane)), usage: row.usage }
    }),
  )
  return found.filter((one) => one !== null)
}

/** States of one lane that one transaction makes void. */
const DROPPED_AT_ONCE_MAX = 1_000

/** Removes what is recorded and not compacted: lanes beyond the limit, and one that has become the thread's own. */
export async function dropSurplusLanes(tx: Tx, own: Compaction, rows: readonly KeptLaneRow[]): Promise<void> {
  const { threadId } = own.thread
  for (const { lane } of divideKept(own, rows).surplus) {
    if (lane === own.lane.key) await forgetKeptLane(tx, { threadId, lane })
    else await dropKeptLane(tx, { threadId, lane, statesMax: DROPPED_AT_ONCE_MAX })
  }
}

function divideKept(own: Compaction, rows: readonly KeptLaneRow[]) {
  const kept = rows.filter(({ lane }) => lane !== own.lane.key).slice(0, limits.keptLanesPerThreadMax)
  return { kept, surplus: rows.filter((row) => !kept.includes(row)) }
}

/** A custom strategy may be registered only in the process that served the request: the thread's own lane goes on without. */
function laneIfKnown(settings: Parameters<typeof laneOf>[0]) {
  try {
    return laneOf(settings)
  } catch (error) {
    if (error instanceof PermanentError && error.code === 'VALIDATION_ERROR') return null
    throw error
  }
}
