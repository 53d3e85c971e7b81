import { notFound } from '@heddle/contracts'
import { ledgerText, positionOf } from '@heddle/core'
import { loadMessage, loadThread } from '@heddle/store'
import { collectAtoms } from '../contexts/collect-atoms.js'
import type { EngineContext } from '../setup/options.js'
import type { Resolved } from './resolve-reference.js'

/** Before every message that a client can send. */
const BEGINNING = { orderedAtMs: 0, ordinal: 0, id: '00000000-0000-0000-0000-000000000000' }

/**
 * The ledger of a thread up to a message: every detail that rules find in the messages since the last clear, on a line of its own,
 * with the messages that have it. Messages never change, so that the same reference has the same lines.
 */
export async function readLedger(
  parts: Pick<EngineContext, 'store' | 'projectId'>,
  { thread: { threadId }, message: { id } }: Resolved,
): Promise<string> {
  const found = await parts.store.inProject(parts.projectId, async (tx) => {
    const [thread, message] = await Promise.all([loadThread(tx, { threadId }), loadMessage(tx, { threadId, id })])
    return thread && message && { thread, to: positionOf(message), headSeq: thread.headSeq }
  })
  if (found === null) throw notFound('message', id, 'it was erased meanwhile')
  const { thread, to, headSeq } = found
  const covered = { from: BEGINNING, to }
  const state = { point: to, headSeq, topIds: [], covered, summary: null, summaryTokens: 0, prunings: new Map() }
  return ledgerText((await collectAtoms(parts, thread, state)).atoms)
}
