import type { Tx } from '../../connection/connection.js'
import type { Columns } from '../../schema/rows.js'
import { takeArchiveOf } from '../erasure-archive.js'
import type { ErasureStep } from '../erasure-step.js'
import { takeContexts } from './erased-contexts.js'
import { takeDeadLetters } from './erased-dead-letters.js'
import { takeProxiedTexts } from './erased-proxied-texts.js'
import { takeFromSnapshots } from './erased-snapshots.js'
import { takeVectors } from './erased-vectors.js'
import { takeWords } from './erased-words.js'
import type { MessageTaker } from './message-step.js'

const takers: readonly MessageTaker[] = [
  takeContexts,
  (tx, { threadId, ids }) => takeArchiveOf(tx, threadId, [...ids]),
  takeWords,
  takeVectors,
  takeDeadLetters,
  takeProxiedTexts,
]

/** One step of an erasure of messages. Snapshots come last, and are searched once: the tombstone says how far. */
export async function takeOfMessages(
  tx: Tx,
  { projectId, targetId: erasureId }: { readonly projectId: string; readonly targetId: string },
): Promise<ErasureStep> {
  const [record] = await tx<(Columns<'tombstones', 'threadId' | 'agentId' | 'snapshotsTo'> & { begunAtMs: number })[]>`
    select thread_id, agent_id, snapshots_to, created_at as begun_at_ms from heddle.tombstones
    where target_id = ${erasureId} and kind = 'messages'`
  const rows = await tx<Columns<'messageErasures', 'messageId' | 'seq'>[]>`
    select message_id, seq from heddle.message_erasures where erasure_id = ${erasureId} order by seq`
  const fromSeq = rows[0]?.seq
  // Erased with its thread meanwhile.
  if (record?.threadId == null || fromSeq === undefined) return { removed: {}, isDone: true }
  const { threadId, agentId, snapshotsTo, begunAtMs } = record
  const ids = new Set(rows.map(({ messageId }) => messageId))
  const seqs = new Set(rows.map(({ seq }) => seq))
  const erased = { projectId, threadId, agentId, begunAtMs, ids, seqs, fromSeq, snapshotsTo }
  for (const take of takers) {
    const removed = await take(tx, erased)
    if (Object.values(removed).some((count = 0) => count > 0)) return { removed, isDone: false }
  }
  const { removed, searchedTo } = await takeFromSnapshots(tx, erased)
  if (searchedTo === null) return { removed, isDone: true }
  await tx`
    update heddle.tombstones set snapshots_to = ${searchedTo} where target_id = ${erasureId} and kind = 'messages'`
  return { removed, isDone: false }
}
