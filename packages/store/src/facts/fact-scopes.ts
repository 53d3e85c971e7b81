import type { Tx } from '../connection/connection.js'

/** Counts a change of the facts of a thread, or of an agent: contexts that show them are built anew. */
export async function noteFactChange(
  tx: Tx,
  { agentId, threadId }: { readonly agentId: string; readonly threadId: string | null },
): Promise<void> {
  await tx`
    insert into heddle.fact_scopes as scope (scope_id, agent_id, thread_id, changes)
    values (${threadId ?? agentId}::uuid, ${agentId}::uuid, ${threadId}::uuid, 1)
    on conflict (scope_id) do update set changes = scope.changes + 1`
}
