import { dropDocuments } from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { loadSegment, lockPostings, replaceSegments } from '../../search/postings.js'
import type { MessageTaker } from './message-step.js'

/**
 * Removes the words of messages from their agent's postings, without a trace of them. Words that a worker stores now are those
 * of the rows that are left: it is refused if it read them before.
 */
export const takeWords: MessageTaker = async (tx, { threadId, seqs }) => {
  const [posted] = await tx<{ agentId: string }[]>`
    select agent_id from heddle.posting_threads where thread_id = ${threadId}`
  if (posted === undefined) return {}
  const { agentId } = posted
  // Before the thread, for which the next messages would wait as long as a merge takes. A separate statement: the next one must see
  // segments that were merged while this one waited for the lock.
  await lockPostings(tx, agentId)
  const [thread] = await tx<{ number: number }[]>`
    select number from heddle.posting_threads where thread_id = ${threadId} for no key update`
  if (thread === undefined) return {}
  const { number } = thread
  const segments = await tx<{ number: number }[]>`
    select number from heddle.posting_segments
    where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
      and agent_id = ${agentId} and ${number}::bigint = any(threads)`
  let [words, length] = [0, 0]
  for (const { number: segment } of segments) {
    const before = await loadSegment(tx, segment)
    const after = await runCooperatively(dropDocuments(before, (of, seq) => of === number && seqs.has(seq)))
    if (after.documents === before.documents) continue
    words += before.documents - after.documents
    length += before.length - after.length
    await replaceSegments(tx, { agentId, numbers: [segment], by: after })
  }
  if (words > 0) {
    await tx`
      update heddle.posting_threads
      set documents = greatest(0, documents - ${words}), length = greatest(0, length - ${length})
      where thread_id = ${threadId}`
  }
  return { postings: words }
}
