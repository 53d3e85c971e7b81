import { withoutThread } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { packSnapshot, unpackSnapshot } from '../snapshots/snapshots.js'
import { asArray } from '../sql/arrays.js'
import { ROWS_PER_STEP, type Taker } from './erasure-step.js'

/**
 * Removes the thread from one snapshot that contains it: its messages, and the summary, which covers all messages. A snapshot
 * of this thread only is deleted. One at a time, since a snapshot may be large.
 */
export const takeSnapshot: Taker = async (tx, { projectId, targetId, agentId }) => {
  if (agentId === null) return {}
  const [snapshot] = await tx<(Columns<'snapshots', 'id' | 'messageCount'> & { content: Uint8Array })[]>`
    select id, content, message_count from heddle.snapshots
    where agent_id = ${agentId} and ${targetId}::uuid = any(thread_ids)
    limit 1
    for update`
  if (snapshot === undefined) return {}
  // Only saved snapshots are listed for a thread, and these have a content.
  const rest = withoutThread(await unpackSnapshot(snapshot.content), targetId)
  if (rest.messages.length === 0) {
    await tx`delete from heddle.snapshots where id = ${snapshot.id}`
    return { snapshots: 1, events: await takeEventsOf(tx, projectId, [snapshot.id]) }
  }
  await tx`
    update heddle.snapshots
    set
      content = ${await packSnapshot(rest)}, summary = ${rest.summary}, needs_summary = true,
      message_count = ${rest.message_count},
      erased_count = erased_count + ${snapshot.messageCount - rest.message_count}, thread_ids = array_remove(thread_ids, ${targetId}::uuid)
    where id = ${snapshot.id}`
  return { snapshots_rewritten: 1 }
}

export const takeSnapshotsOfAgent: Taker = async (tx, { projectId, targetId }) => {
  const removed = await tx<{ id: string }[]>`
    delete from heddle.snapshots
    where id = any(array(select id from heddle.snapshots where agent_id = ${targetId} limit ${ROWS_PER_STEP}))
    returning id`
  if (removed.length === 0) return {}
  const ids = removed.map(({ id }) => id)
  return { snapshots: removed.length, events: await takeEventsOf(tx, projectId, ids) }
}

/** Events of snapshots name no thread, so the project's log is scanned, which is kept for days only. */
async function takeEventsOf(tx: Tx, projectId: string, ids: readonly string[]): Promise<number> {
  const { count } = await tx`
    delete from heddle.events
    where project_id = ${projectId} and topic = 'snapshot.saved' and subject_id = any(${asArray(ids)}::uuid[])`
  return count
}
