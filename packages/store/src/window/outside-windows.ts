import type { Tx } from '../connection/connection.js'
import { agentStands, threadStands } from '../messages/tombstones.js'
import { isOwn } from '../sql/own-project.js'

/** The number of an agent's threads, and of those whose newest message is older than their rolling window. */
export interface AgentOutsideWindow {
  readonly agent: string
  readonly threads: number
  readonly outside: number
}

/** The query checks the newest agents, and the newest threads of each. */
const AGENTS_MAX = 100
const THREADS_MAX = 200

/**
 * The agents with threads whose messages are all older than the rolling window, so that no context shows them. It reads no
 * messages: a thread's row has the time of the newest.
 *
 * @param rollingWindow of agents that set none, in seconds; null for none
 */
export async function findOutsideWindows(
  tx: Tx,
  { nowMs, rollingWindow }: { readonly nowMs: number; readonly rollingWindow: number | null },
): Promise<AgentOutsideWindow[]> {
  return await tx<AgentOutsideWindow[]>`
    select agent.name as agent, count(*) as threads, count(*) filter (where thread.is_outside) as outside
    from (
      select agent.id, agent.name, configured.settings
      from heddle.agents as agent
      join heddle.agent_versions as configured
        on configured.agent_id = agent.id and configured.version = agent.version
      where ${isOwn(tx, 'agent')} and ${agentStands(tx)}
      order by agent.created_at desc, agent.id
      limit ${AGENTS_MAX}) as agent
    cross join lateral (
      select
        extract(epoch from cursor.last_message_at) * 1000 <= ${nowMs}::float8 - 1000 * nullif(coalesce(
          described.settings -> 'rollingWindow', agent.settings -> 'rollingWindow', ${JSON.stringify(rollingWindow)}::text::json
        )::text, 'null')::float8 as is_outside
      from heddle.threads as thread
      join heddle.stage_cursors as cursor on cursor.thread_id = thread.id
      left join heddle.thread_versions as described
        on described.thread_id = thread.id and described.version = thread.version
      where thread.agent_id = agent.id and ${threadStands(tx)}
      order by thread.created_at desc
      limit ${THREADS_MAX}) as thread
    group by agent.id, agent.name
    having bool_or(thread.is_outside)
    order by outside desc, agent.name`
}
