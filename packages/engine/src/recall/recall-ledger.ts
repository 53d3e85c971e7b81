import { notFound } from '@heddle/contracts'
import { ledgerText, messageReference, positionOf, recalledLedger } from '@heddle/core'
import { findLedger, loadMessage, loadThread, type Tx } from '@heddle/store'
import { collectAtoms } from '../contexts/collect-atoms.js'
import { stateUpTo } from '../contexts/ledger.js'
import type { EngineContext } from '../setup/options.js'
import type { Resolved } from './resolve-reference.js'

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
  return ledgerText((await collectAtoms(parts, thread, stateUpTo(to, headSeq))).atoms)
}

/**
 * The ledger of artifacts as contexts have it that continue from a compaction: stored with the compaction, so that the numbers of
 * its lines are those that the contexts show.
 */
export async function readArtifacts(
  tx: Tx,
  { thread: { threadId }, message: { id, code } }: Pick<Resolved, 'thread' | 'message'>,
): Promise<string> {
  const ledger = await findLedger(tx, { threadId, messageId: id })
  if (ledger === null)
    throw notFound('ledger', messageReference(code), 'no compaction ends with this message; :ledger has all details')
  return recalledLedger(ledger)
}
