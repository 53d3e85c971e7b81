import type { ContextRequest, Fill } from '@heddle/contracts'
import { standIn } from '@heddle/core'
import { type Compaction, toCompactionState } from '@heddle/store'

/** A compaction from which a request is served. */
export interface Served {
  /** Its `current` is the state to continue from: of the request's lane, or of the thread's own. */
  readonly compaction: Compaction
  /** How the budget must be filled under a state of the thread's own lane; null if that is open. */
  readonly fill: Fill | null
  /** Whether the state is of the thread's own lane, and the request's another. */
  readonly isStandIn: boolean
}

/** The state of the request's lane, or before its first one that of the thread's own lane where it fits (see `standIn`). */
export function servedFrom(compaction: Compaction, request: ContextRequest): Served {
  const { own, current, lane, settings } = compaction
  const none = { compaction, fill: null, isStandIn: false }
  if (own?.current == null || current !== null) return none
  const state = toCompactionState(own.current)
  const kind = standIn({ lane: own.lane, state }, lane, request.fill ?? settings.fill)
  if (kind === null) return none
  return {
    compaction: { ...compaction, current: own.current },
    fill: kind === 'fill' ? 'budget' : null,
    isStandIn: true,
  }
}
