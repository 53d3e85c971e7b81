import type { Tx } from '../../connection/connection.js'
import type { Columns } from '../../schema/rows.js'
import { takeArchiveOf } from '../erasure-archive.js'
import type { Removed } from '../erasure-step.js'
import { takeContexts } from './erased-contexts.js'
import { takeDeadLetters } from './erased-dead-letters.js'
import { takeFromSnapshots } from './erased-snapshots.js'
import { takeVectors } from './erased-vectors.js'
import { takeWords } from './erased-words.js'
import type { MessageTaker } from './message-step.js'

const takers: readonly MessageTaker[] = [
  takeContexts,
  (tx, { threadId, ids }) => takeArchiveOf(tx, threadId, [...ids]),
  takeWords,
  takeVectors,
  takeFromSnapshots,
  takeDeadLetters,
]

/** One step of an erasure of messages. @returns what it removed; empty if nothing is left */
export async function takeOfMessages(
  tx: Tx,
  { projectId, targetId: erasureId }: { readonly projectId: string; readonly targetId: string },
): Promise<Removed> {
  const [record] = await tx<(Columns<'tombstones', 'threadId' | 'agentId'> & { begunAtMs: number })[]>`
    select thread_id, agent_id, created_at as begun_at_ms from heddle.tombstones
    where target_id = ${erasureId} and kind = 'messages'`
  const rows = await tx<Columns<'messageErasures', 'messageId' | 'seq'>[]>`
    select message_id, seq from heddle.message_erasures where erasure_id = ${erasureId} order by seq`
  const fromSeq = rows[0]?.seq
  // Erased with its thread meanwhile.
  if (record?.threadId == null || fromSeq === undefined) return {}
  const { threadId, agentId, begunAtMs } = record
  const ids = new Set(rows.map(({ messageId }) => messageId))
  const seqs = new Set(rows.map(({ seq }) => seq))
  for (const take of takers) {
    const taken = await take(tx, { projectId, threadId, agentId, begunAtMs, ids, seqs, fromSeq })
    if (Object.values(taken).some((count = 0) => count > 0)) return taken
  }
  return {}
}
