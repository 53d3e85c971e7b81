import { asArray } from './arrays.js'
import type { Tx } from './connection.js'
import { toStorable } from './text.js'

/** What a compaction decided about one message. */
export interface PruningRow {
  readonly stateId: string
  readonly messageId: string
  readonly action: 'condense' | 'remove' | 'stub'
  /** What stands in the message's place; empty where it is removed. */
  readonly text: string
  readonly tokens: number
  readonly reason: string
  readonly archiveId: string
}

/** The prunings of some states that are in force, by generation: of two about one message, the later one holds. */
export async function loadPrunings(
  tx: Tx,
  { threadId, stateIds }: { threadId: string; stateIds: readonly string[] },
): Promise<PruningRow[]> {
  if (stateIds.length === 0) return []
  return await tx<PruningRow[]>`
    select
      pruning.state_id, pruning.message_id, pruning.action, pruning.text, pruning.tokens, pruning.reason,
      pruning.archive_id
    from heddle.context_states as state
    join heddle.prunings as pruning on pruning.thread_id = ${threadId} and pruning.state_id = state.id
    where state.id = any(${asArray(stateIds)}::uuid[]) and state.status <> 'void' and pruning.undone_at is null
    order by state.generation, pruning.message_id`
}

/** Records the prunings of one thread's states; those that are there already stay as they are. */
export async function insertPrunings(
  tx: Tx,
  { threadId, prunings }: { threadId: string; prunings: readonly PruningRow[] },
): Promise<void> {
  if (prunings.length === 0) return
  const rows = prunings.map((pruning) => ({
    state_id: pruning.stateId,
    message_id: pruning.messageId,
    action: pruning.action,
    text: toStorable(pruning.text),
    tokens: pruning.tokens,
    reason: toStorable(pruning.reason),
    archive_id: pruning.archiveId,
  }))
  await tx`
    insert into heddle.prunings (thread_id, state_id, message_id, action, text, tokens, reason, archive_id)
    select ${threadId}, state_id, message_id, action, text, tokens, reason, archive_id
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as pruning (
      state_id uuid, message_id uuid, action text, text text, tokens integer, reason text, archive_id uuid)
    on conflict do nothing`
}
