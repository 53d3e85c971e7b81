import type { CondensedCall } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { asArray, asQuotedArray } from '../sql/arrays.js'
import { toStorable } from '../sql/text.js'
import type { ContextStateRow } from './states.js'

/** The decision of a compaction on one message. */
export type PruningRow = Columns<
  'prunings',
  'stateId' | 'messageId' | 'action' | 'text' | 'calls' | 'tokens' | 'reason' | 'archiveId'
>

/**
 * The prunings of some messages under a state: those of its generation and of the earlier ones of its series. Of two prunings
 * of one message the later one comes last and is valid.
 */
export async function loadPruningsOf(
  tx: Tx,
  { state, messageIds }: { state: ContextStateRow; messageIds: readonly string[] },
): Promise<PruningRow[]> {
  if (messageIds.length === 0) return []
  return await tx<PruningRow[]>`
    select
      pruning.state_id, pruning.message_id, pruning.action, pruning.text, pruning.calls, pruning.tokens, pruning.reason,
      pruning.archive_id
    from heddle.prunings as pruning
    -- Lateral with an offset: one look-up for each pruning. A join may compare each of them with the whole series.
    cross join lateral (
      select generation from heddle.context_states
      where context_states.id = pruning.state_id and lane = ${state.lane} and clear_epoch = ${state.clearEpoch}
        and generation <= ${state.generation} and status <> 'void'
      offset 0) as decided
    where pruning.thread_id = ${state.threadId} and pruning.message_id = any(${asArray(messageIds)}::uuid[])
      and pruning.undone_at is null
    order by decided.generation`
}

function storableCalls(calls: readonly CondensedCall[]): string {
  return JSON.stringify(calls.map((call) => ({ ...call, text: toStorable(call.text) })))
}

/** Stores the prunings of one thread's states. Existing ones stay unchanged. */
export async function insertPrunings(
  tx: Tx,
  { threadId, prunings }: { threadId: string; prunings: readonly PruningRow[] },
): Promise<void> {
  if (prunings.length === 0) return
  await tx`
    insert into heddle.prunings (thread_id, state_id, message_id, action, text, calls, tokens, reason, archive_id)
    select ${threadId}, state_id, message_id, action, text, calls::json, tokens, reason, archive_id
    from unnest(
      ${asArray(prunings.map(({ stateId }) => stateId))}::uuid[],
      ${asArray(prunings.map(({ messageId }) => messageId))}::uuid[],
      ${asArray(prunings.map(({ action }) => action))}::text[],
      ${asQuotedArray(prunings.map(({ text }) => toStorable(text)))}::text[],
      ${asQuotedArray(prunings.map(({ calls }) => calls && storableCalls(calls)))}::text[],
      ${asArray(prunings.map(({ tokens }) => tokens))}::integer[],
      ${asQuotedArray(prunings.map(({ reason }) => toStorable(reason)))}::text[],
      ${asArray(prunings.map(({ archiveId }) => archiveId))}::uuid[]
    ) as pruning (state_id, message_id, action, text, calls, tokens, reason, archive_id)
    on conflict do nothing`
}
