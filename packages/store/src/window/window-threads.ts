import type { PartialSettings } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { threadStands } from '../messages/tombstones.js'

/** A thread that may have messages in the window of its agent. */
export interface WindowThread {
  readonly threadId: string
  readonly name: string
  readonly settings: PartialSettings
  /** The head of the thread at the agent's last clear. */
  readonly clearedSeq: number
  readonly lastMessageAtMs: number
  readonly createdAtMs: number
}

export interface WindowThreadListing {
  readonly agentId: string
  readonly limit: number
  /** The last thread of the previous page. */
  readonly after?: Pick<WindowThread, 'createdAtMs' | 'threadId'> | undefined
}

/** A page of an agent's threads with messages after its last clear, oldest thread first. */
export async function listWindowThreads(
  tx: Tx,
  { agentId, limit, after }: WindowThreadListing,
): Promise<WindowThread[]> {
  return await tx<WindowThread[]>`
    select
      thread.id as thread_id, thread.name, coalesce(described.settings, '{}'::json) as settings,
      coalesce(cleared.head_seq, 0) as cleared_seq, cursor.last_message_at as last_message_at_ms,
      thread.created_at as created_at_ms
    from heddle.threads as thread
    join heddle.stage_cursors as cursor on cursor.thread_id = thread.id
    join heddle.agents as agent on agent.id = thread.agent_id
    left join heddle.thread_versions as described
      on described.thread_id = thread.id and described.version = thread.version
    left join heddle.thread_clears as cleared
      on cleared.thread_id = thread.id and cleared.epoch = agent.clear_epoch
    where thread.agent_id = ${agentId}
      and ${after === undefined ? tx`true` : tx`(thread.created_at, thread.id) > (${after.createdAtMs}, ${after.threadId})`}
      and cursor.head_seq > coalesce(cleared.head_seq, 0)
      and cursor.last_message_at > coalesce(agent.last_cleared_at, '-infinity')
      and ${threadStands(tx)}
    order by thread.created_at, thread.id
    limit ${limit}`
}
