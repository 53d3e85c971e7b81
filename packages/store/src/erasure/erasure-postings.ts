import { dropThread } from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { loadSegment, lockPostings, replaceSegments } from '../search/postings.js'
import { ROWS_PER_STEP, type Taker } from './erasure-step.js'

/**
 * Removes the words of a thread from its agent's postings, a segment at a time, without a trace of them. Segments of an erased
 * agent are deleted as a whole.
 */
export const takePostings: Taker = async (tx, { targetId }) => {
  const [thread] = await tx<{ number: number; agentId: string; isAgentErased: boolean }[]>`
    select number, agent_id,
      exists (select from heddle.tombstones where target_id = agent_id and kind = 'agent') as is_agent_erased
    from heddle.posting_threads
    where thread_id = ${targetId}`
  if (thread === undefined) return { postings: 0 }
  const { number, agentId, isAgentErased } = thread
  // A separate statement: the next one must see segments that were merged while this one waited for the lock.
  await lockPostings(tx, agentId)
  const ofScope = tx`
    project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid) and agent_id = ${agentId}`
  if (isAgentErased) {
    const { count } = await tx`
      delete from heddle.posting_segments
      where number = any(array(select number from heddle.posting_segments where ${ofScope} limit ${SEGMENTS_PER_STEP}))`
    if (count > 0) return { postings: count }
  }
  const [segment] = await tx<{ number: number }[]>`
    select number from heddle.posting_segments where ${ofScope} and ${number}::bigint = any(threads) limit 1`
  if (segment === undefined) {
    await tx`delete from heddle.posting_threads where thread_id = ${targetId}`
    return { postings: 1 }
  }
  const kept = await runCooperatively(dropThread(await loadSegment(tx, segment.number), number))
  await replaceSegments(tx, { agentId, numbers: [segment.number], by: kept })
  return { postings: 1 }
}

/** Each is deleted with its blocks, of which a large one has some thousand. */
const SEGMENTS_PER_STEP = 10

/** Removes the remaining postings of an agent without threads. */
export const takePostingsOfAgent: Taker = async (tx, { targetId }) => {
  const [segments, threads] = await Promise.all([
    tx`
      delete from heddle.posting_segments
      where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
        and agent_id = ${targetId}
        and number = any(array(
          select number from heddle.posting_segments
          where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
            and agent_id = ${targetId}
          limit ${SEGMENTS_PER_STEP}))`,
    tx`
      delete from heddle.posting_threads
      where agent_id = ${targetId} and thread_id = any(array(
        select thread_id from heddle.posting_threads where agent_id = ${targetId} limit ${ROWS_PER_STEP}))`,
  ])
  return { postings: segments.count + threads.count }
}
