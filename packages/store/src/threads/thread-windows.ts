import type { PartialSettings } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'

/** The names of a thread, and what its window depends on. */
export interface ThreadWindowRow
  extends Columns<'threads', 'name'>,
    Columns<'agents', 'lastClearedAtMs'>,
    Columns<'stageCursors', 'threadId'> {
  readonly agentName: string
  readonly agentSettings: PartialSettings
  readonly settings: PartialSettings
  /** The head of the thread at the agent's last clear; 0 without a clear. */
  readonly clearedSeq: number
}

export async function loadThreadWindows(
  tx: Tx,
  threadIds: Iterable<string>,
): Promise<ReadonlyMap<string, ThreadWindowRow>> {
  const rows = await tx<ThreadWindowRow[]>`
    select
      thread.id as thread_id, thread.name, agent.name as agent_name, configured.settings as agent_settings,
      coalesce(described.settings, '{}'::json) as settings,
      agent.last_cleared_at as last_cleared_at_ms, coalesce(cleared.head_seq, 0) as cleared_seq
    from unnest(${asArray(threadIds)}::uuid[]) as given (id)
    join heddle.threads as thread on thread.id = given.id
    join heddle.agents as agent on agent.id = thread.agent_id
    join heddle.agent_versions as configured
      on configured.agent_id = agent.id and configured.version = agent.version
    left join heddle.thread_versions as described
      on described.thread_id = thread.id and described.version = thread.version
    left join heddle.thread_clears as cleared
      on cleared.thread_id = thread.id and cleared.epoch = agent.clear_epoch`
  return new Map(rows.map((row) => [row.threadId, row]))
}
