import { withoutMessages } from '@heddle/core'
import type { Tx } from '../../connection/connection.js'
import { packSnapshot, unpackSnapshot } from '../../snapshots/snapshots.js'
import type { Removed } from '../erasure-step.js'
import type { ErasedMessages } from './message-step.js'

/** Compressed bytes of the snapshots that one step searches, at least one: they are some ten times larger in memory. */
const SNAPSHOT_BYTES_PER_STEP = 4 * 1024 * 1024
const SNAPSHOTS_PER_STEP = 100

/** The rows that a step removed, and the last snapshot that it searched; null if all were searched before. */
export interface SnapshotStep {
  readonly removed: Removed
  readonly searchedTo: string | null
}

/**
 * Removes messages from the next snapshots that may have them, with their summaries, which were written from all messages. A snapshot of
 * only these messages is deleted. Each is read once: one that is saved later has none of the messages.
 */
export async function takeFromSnapshots(tx: Tx, erased: ErasedMessages): Promise<SnapshotStep> {
  const found = await nextSnapshots(tx, erased)
  const removed = { snapshots: 0, snapshots_rewritten: 0 }
  for (const id of found) {
    const change = await takeFromSnapshot(tx, id, erased)
    if (change !== null) removed[change]++
  }
  return { removed, searchedTo: found.at(-1) ?? null }
}

async function nextSnapshots(tx: Tx, { agentId, threadId, snapshotsTo }: ErasedMessages): Promise<string[]> {
  if (agentId === null) return []
  const rows = await tx<{ id: string }[]>`
    with next as (
      select id, coalesce(octet_length(content), 0) as bytes from heddle.snapshots
      where agent_id = ${agentId} and ${threadId}::uuid = any(thread_ids)
        and (${snapshotsTo}::uuid is null or id > ${snapshotsTo}::uuid)
      order by id
      limit ${SNAPSHOTS_PER_STEP}
    )
    select id from (select id, sum(bytes) over (order by id) - bytes as bytes_before from next) as summed
    where bytes_before < ${SNAPSHOT_BYTES_PER_STEP}
    order by id`
  return rows.map(({ id }) => id)
}

async function takeFromSnapshot(
  tx: Tx,
  id: string,
  { threadId, ids }: ErasedMessages,
): Promise<'snapshots' | 'snapshots_rewritten' | null> {
  const [row] = await tx<{ content: Uint8Array | null; messageCount: number }[]>`
    select content, message_count from heddle.snapshots where id = ${id} for update`
  if (row?.content == null) return null
  const before = await unpackSnapshot(row.content)
  const rest = withoutMessages(before, threadId, ids)
  if (rest === before) return null
  if (rest.messages.length === 0) {
    await tx`delete from heddle.snapshots where id = ${id}`
    await tx`delete from heddle.events where topic = 'snapshot.saved' and subject_id = ${id}`
    return 'snapshots'
  }
  const left = rest.messages.some((message) => message.thread_id === threadId)
  await tx`
    update heddle.snapshots
    set
      content = ${await packSnapshot(rest)}, summary = ${rest.summary}, needs_summary = true,
      message_count = ${rest.message_count}, erased_count = erased_count + ${row.messageCount - rest.message_count},
      thread_ids = case when ${left}::boolean then thread_ids else array_remove(thread_ids, ${threadId}::uuid) end
    where id = ${id}`
  return 'snapshots_rewritten'
}
