import type { ContextRequest } from '@heddle/contracts'
import { type ContextLedger, ledgerLimit } from '@heddle/core'
import { type Compaction, loadLedger as loadStored, type Tx } from '@heddle/store'
import { servedFrom } from './served-state.js'

export interface LoadedLedger {
  readonly ledger: ContextLedger
  /** Whether it is that of a compaction in another lane than the request's, whose changes no version shows. */
  readonly isOfOtherLane: boolean
}

/**
 * The ledger as of the compaction from which a context continues; null if the request does not want it. Before the first compaction of
 * the request's lane it is that of the thread's own.
 */
export async function loadLedger(
  tx: Tx,
  compaction: Compaction,
  request: ContextRequest,
): Promise<LoadedLedger | null> {
  const { thread, settings, own } = compaction
  const tokensMax = ledgerLimit(request, settings)
  if (tokensMax === null) return null
  const isShown = request.scope?.threads?.includes(thread.name) ?? true
  const served = servedFrom(compaction, request).compaction.current
  const state = served ?? own?.current ?? null
  const ledger = isShown && state !== null ? await loadStored(tx, { stateId: state.id }) : null
  return { ledger: { ledger, tokensMax }, isOfOtherLane: served === null && own !== null }
}
