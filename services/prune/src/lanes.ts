import type { PartialSettings } from '@heddle/contracts'
import {
  awaitsSummary,
  type Compaction,
  type KeptLaneRow,
  type KeptUsage,
  loadKeptCompactions,
  type PruneUsage,
  type Tx,
} from '@heddle/store'
import type { KnownUsage } from './incremental-usage.js'

/** A lane of a thread, with the usage of its context at the stage's cursor. */
export interface ThreadLane {
  readonly compaction: Compaction
  readonly known: KnownUsage | null
}

/** The lanes of a thread in the order in which they are compacted: its own first. */
export async function loadLanes(
  tx: Tx,
  own: Compaction,
  kept: readonly KeptLaneRow[],
  settings: PartialSettings,
): Promise<readonly [ThreadLane, ...ThreadLane[]]> {
  const { pruneUsage, pruneSeq } = own.thread
  const ofOwn = { compaction: own, known: pruneUsage?.lane === own.lane.key ? pruneUsage : null }
  if (kept.length === 0) return [ofOwn]
  const others = await loadKeptCompactions(tx, own, kept, settings)
  return [
    ofOwn,
    // An undo and a new lane move the cursor back: then the usage includes messages that are read again.
    ...others.map((one) => ({ compaction: one, known: one.usage?.seq === pruneSeq ? one.usage : null })),
  ]
}

/**
 * The usages of lanes at the head, as they are stored with the cursor.
 *
 * @param usages null if the messages must be read again
 */
export function storedUsages(
  own: Compaction,
  usages: ReadonlyMap<Compaction, number | null>,
): { usage: PruneUsage | null; keptUsages: ReadonlyMap<string, KeptUsage> } {
  const tokensOfOwn = usages.get(own) ?? null
  const stateIdOf = ({ latest }: Compaction) => latest?.id ?? null
  const kept = [...usages].filter(([compaction]) => compaction !== own)
  return {
    usage: tokensOfOwn === null ? null : { tokens: tokensOfOwn, stateId: stateIdOf(own), lane: own.lane.key },
    keptUsages: new Map(
      kept.map(([one, tokens]) => [one.lane.key, { tokens, stateId: stateIdOf(one), seq: one.thread.headSeq }]),
    ),
  }
}

export function isAwaiting({ latest }: Compaction): boolean {
  return latest !== null && awaitsSummary(latest)
}
