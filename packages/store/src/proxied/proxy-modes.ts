import type { PartialSettings } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { agentStands } from '../messages/tombstones.js'
import { isOwn } from '../sql/own-project.js'

type Mode = PartialSettings['proxyMode'] | null

/**
 * The mode of the proxy in the settings of a thread, and in those of an agent; null where they do not name one.
 *
 * @param threadId null for a conversation whose thread is not known
 */
export async function loadProxyModes(
  tx: Tx,
  { agentId, threadId }: { agentId: string; threadId: string | null },
): Promise<{ ofThread: Mode; ofAgent: Mode }> {
  const [modes] = await tx<[{ ofThread: Mode; ofAgent: Mode }]>`
    select
      (
        select described.settings ->> 'proxyMode'
        from heddle.threads as thread
        join heddle.thread_versions as described
          on described.thread_id = thread.id and described.version = thread.version
        where thread.id = ${threadId}::uuid and ${isOwn(tx, 'thread')}
      ) as of_thread,
      (
        select configured.settings ->> 'proxyMode'
        from heddle.agents as agent
        join heddle.agent_versions as configured
          on configured.agent_id = agent.id and configured.version = agent.version
        where agent.id = ${agentId} and ${isOwn(tx, 'agent')} and ${agentStands(tx)}
      ) as of_agent`
  return modes
}
