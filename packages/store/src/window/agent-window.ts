import type { PartialSettings } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { agentStands } from '../messages/tombstones.js'

/** Limits of the window of an agent's thread, besides the settings of the file and the environment. */
export interface AgentWindow {
  readonly agentSettings: PartialSettings
  /** Empty if the agent has no such thread yet. */
  readonly threadSettings: PartialSettings
  readonly lastClearedAtMs: number | null
}

/** @returns null if there is no such agent */
export async function loadAgentWindow(
  tx: Tx,
  { agentId, threadId }: { readonly agentId: string; readonly threadId: string },
): Promise<AgentWindow | null> {
  const [window] = await tx<AgentWindow[]>`
    select
      configured.settings as agent_settings, coalesce(described.settings, '{}'::json) as thread_settings,
      agent.last_cleared_at as last_cleared_at_ms
    from heddle.agents as agent
    join heddle.agent_versions as configured
      on configured.agent_id = agent.id and configured.version = agent.version
    left join heddle.threads as thread on thread.id = ${threadId} and thread.agent_id = agent.id
    left join heddle.thread_versions as described
      on described.thread_id = thread.id and described.version = thread.version
    where agent.id = ${agentId} and ${agentStands(tx)}`
  return window ?? null
}
