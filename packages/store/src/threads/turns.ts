import type { Position } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { loadSharedRuns, someMessagesOf } from '../forks/lineage.js'
import { byIndexOrder } from '../sql/index-order.js'

/** Messages that are searched for the user's latest one; an autonomous thread may have no request. */
const TURN_MESSAGES_READ_MAX = 10_000

/**
 * Replies of the model after the user's latest message, including those that windows and clears hide, as `turnsTaken` of core
 * counts them. Of a longer turn only the newest {@link TURN_MESSAGES_READ_MAX} messages are counted.
 *
 * @param before only messages before this position; null: up to the thread's end. Default null
 */
export async function countTurns(
  tx: Tx,
  { threadId, before = null }: { threadId: string; before?: Position | null },
): Promise<number> {
  await loadSharedRuns(tx, threadId)
  const position = tx`ordered_at, ordinal, id`
  const newestFirst = tx`order by ordered_at desc, ordinal desc, id desc limit ${TURN_MESSAGES_READ_MAX}`
  const eligible = tx`
    restores_seq is null and kept_aside is null and role not in ('error', 'approval')
      and ${before === null ? tx`true` : tx`(${position}) < (${before.orderedAtMs}, ${before.ordinal}, ${before.id})`}`
  const sinceStart = tx`
    and ${eligible} and (${position}) > (
      (select ordered_at from start), (select ordinal from start), (select id from start))
    ${newestFirst}`
  const [, [counted]] = await Promise.all([
    byIndexOrder(tx),
    tx<{ taken: number }[]>`
      with latest as (
        select ${position}
        from (select ${position}, role from ${someMessagesOf(tx, threadId, tx`and ${eligible} ${newestFirst}`)} as message where ${eligible} ${newestFirst}) as newest
        where role = 'user'
        limit 1
      ),
      -- A condition with coalesce would not be used with the index under row-level security.
      start as materialized (
        select
          coalesce((select ordered_at from latest), '-infinity') as ordered_at,
          coalesce((select ordinal from latest), 0) as ordinal,
          coalesce((select id from latest), '00000000-0000-0000-0000-000000000000') as id
      )
      select count(*) filter (where is_reply and not follows_reply) as taken
      from (
        select is_reply, coalesce(lag(is_reply) over (order by ${position}), false) as follows_reply
        from (
          select ${position}, role in ('assistant', 'tool_use') as is_reply
          from ${someMessagesOf(tx, threadId, sinceStart)} as message
          where true ${sinceStart}
        ) as since
      ) as replies`,
  ])
  return counted?.taken ?? 0
}
