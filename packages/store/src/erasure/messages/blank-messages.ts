import type { StoredPart } from '@heddle/contracts'
import type { Tx } from '../../connection/connection.js'
import { releasePartContents } from '../../messages/part-contents.js'
import type { Columns } from '../../schema/rows.js'
import { asArray } from '../../sql/arrays.js'

/**
 * Replaces the rows of messages by rows without content: rows of messages are never updated. The id, the numbers, the
 * role, and the times by which the conversation is ordered remain.
 *
 * @returns the estimated tokens that they had
 */
export async function blankMessages(
  tx: Tx,
  threadId: string,
  rows: readonly Pick<Columns<'messages', 'seq'>, 'seq'>[],
): Promise<number> {
  const seqs = asArray(rows.map(({ seq }) => seq))
  const [removed] = await Promise.all([
    tx<{ parts: StoredPart[] | null; tokensEstimate: number }[]>`
      with removed as (
        delete from heddle.messages where thread_id = ${threadId} and seq = any(${seqs}::bigint[]) returning *
      ),
      blank as (
        insert into heddle.messages (
          thread_id, seq, id, code, role, content, ordered_at, ordinal, latest_at, received_at, kept_aside,
          tokens_estimate, fingerprint)
        select
          thread_id, seq, id, code, role, '', ordered_at, ordinal, latest_at, received_at, 'erased', 0, ''
        from removed
      )
      select parts, tokens_estimate from removed`,
    // The counts of a run of messages are one row: see the schema.
    tx`
      update heddle.message_tokens as counted
      set
        tokens = array(
          select case when counted.seq + place - 1 = any(${seqs}::bigint[]) then 0 else tokens end
          from unnest(counted.tokens) with ordinality as each (tokens, place) order by place),
        reasoning = case when counted.reasoning is not null then array(
          select case when counted.seq + place - 1 = any(${seqs}::bigint[]) then 0 else reasoning end
          from unnest(counted.reasoning) with ordinality as each (reasoning, place) order by place) end
      where counted.thread_id = ${threadId} and exists (
        select from unnest(${seqs}::bigint[]) as given (seq)
        where given.seq >= counted.seq and given.seq < counted.seq + cardinality(counted.tokens))`,
  ])
  const times = new Map<string, number>()
  for (const { sha256 } of removed.flatMap(({ parts }) => parts ?? [])) {
    if (sha256 !== undefined) times.set(sha256, (times.get(sha256) ?? 0) + 1)
  }
  await releasePartContents(tx, times)
  return removed.reduce((sum, { tokensEstimate }) => sum + tokensEstimate, 0)
}
