import { withoutMessages } from '@heddle/core'
import { packSnapshot, unpackSnapshot } from '../../snapshots/snapshots.js'
import type { MessageTaker } from './message-step.js'

/**
 * Removes messages from the snapshots that have them, with their summaries, which were written from all messages. A snapshot of
 * only these messages is deleted. One snapshot at a time, since it may be large.
 */
export const takeFromSnapshots: MessageTaker = async (tx, { agentId, threadId, ids }) => {
  if (agentId === null) return {}
  const candidates = await tx<{ id: string }[]>`
    select id from heddle.snapshots where agent_id = ${agentId} and ${threadId}::uuid = any(thread_ids) order by id`
  const taken = { snapshots: 0, snapshots_rewritten: 0 }
  for (const { id } of candidates) {
    const [row] = await tx<{ content: Uint8Array | null; messageCount: number }[]>`
      select content, message_count from heddle.snapshots where id = ${id} for update`
    if (row?.content == null) continue
    const before = await unpackSnapshot(row.content)
    const rest = withoutMessages(before, threadId, ids)
    if (rest === before) continue
    if (rest.messages.length === 0) {
      await tx`delete from heddle.snapshots where id = ${id}`
      await tx`delete from heddle.events where topic = 'snapshot.saved' and subject_id = ${id}`
      taken.snapshots++
      continue
    }
    await tx`
      update heddle.snapshots
      set
        content = ${await packSnapshot(rest)}, summary = ${rest.summary}, needs_summary = true,
        message_count = ${rest.message_count}, erased_count = erased_count + ${row.messageCount - rest.message_count},
        thread_ids = case when ${rest.messages.some((message) => message.thread_id === threadId)}::boolean
          then thread_ids else array_remove(thread_ids, ${threadId}::uuid) end
      where id = ${id}`
    taken.snapshots_rewritten++
  }
  return taken
}
