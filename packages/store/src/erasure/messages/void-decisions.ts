import type { Tx } from '../../connection/connection.js'
import { messagesOf } from '../../forks/lineage.js'
import { asArray } from '../../sql/arrays.js'
import type { ErasableRow } from './message-groups.js'

/**
 * Removes what compactions decided about messages that are being erased. Each state that took one of them into account becomes
 * void and loses its summary and its ledger, which may quote it; the prune and summarize stages make the series again without
 * them. Summaries of earlier leaves stay and are used again.
 */
export async function dropDecisions(tx: Tx, threadId: string, rows: readonly ErasableRow[]): Promise<void> {
  const seqs = asArray(rows.map(({ seq }) => seq))
  const marks = await tx<{ id: string }[]>`
    select id from ${messagesOf(tx, threadId)} as message where restores_seq = any(${seqs}::bigint[])`
  const ids = asArray([...rows, ...marks].map(({ id }) => id))
  const first = earliest(rows)
  const since = tx`(${first.orderedAtMs}::timestamptz, ${first.ordinal}::integer, ${first.id}::uuid)`
  const ofThread = tx`thread_id = ${threadId}`
  await Promise.all([
    tx`
      update heddle.context_states
      set status = 'void', voided_at = coalesce(voided_at, now()), summary = null, summary_tokens = 0, ledger = null
      where ${ofThread} and (point_at, point_ordinal, point_id) >= ${since} 
        and (status <> 'void' or summary is not null or ledger is not null)`,
    tx`delete from heddle.prunings where ${ofThread} and message_id = any(${ids}::uuid[])`,
    tx`delete from heddle.summary_leaves where ${ofThread} and (end_at, end_ordinal, end_id) >= ${since}`,
    // Larger parts are made from smaller ones and do not say which messages they cover: only those of leaves are kept.
    tx`
      delete from heddle.summary_parts as part
      where part.thread_id = ${threadId} and not exists (
        select from heddle.summary_leaves as leaf
        join heddle.context_states as state on state.id = leaf.state_id and state.status <> 'void'
        where leaf.thread_id = ${threadId} and leaf.hash = part.hash)`,
    tx`delete from heddle.undone_messages where ${ofThread} and message_id = any(${ids}::uuid[])`,
    tx`delete from heddle.pins where ${ofThread} and message_id = any(${ids}::uuid[])`,
    // A fact whose correction is erased holds again.
    tx`
      with erased as (
        delete from heddle.facts where ${ofThread} and sources && ${ids}::uuid[] returning agent_id, id)
      update heddle.facts as fact set corrected_by = null
      from erased
      where fact.thread_id = ${threadId} and fact.agent_id = erased.agent_id and fact.corrected_by = erased.id
        and not fact.sources && ${ids}::uuid[]`,
    // The request context of an erased reply.
    tx`
      delete from heddle.context_items
      where ${ofThread} and answered_seq = any(${seqs}::bigint[])`,
  ])
}

function earliest(rows: readonly ErasableRow[]): ErasableRow {
  const [first] = rows.toSorted(
    (left, right) =>
      left.orderedAtMs - right.orderedAtMs || left.ordinal - right.ordinal || (left.id < right.id ? -1 : 1),
  )
  if (first === undefined) throw new Error('an erasure without messages')
  return first
}
