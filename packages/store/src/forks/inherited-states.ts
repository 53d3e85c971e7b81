import type { LaneOfThread } from '../compaction/states.js'
import type { Tx } from '../connection/connection.js'
import { isNoFork } from './lineage.js'

/**
 * The compactions of the origins from which the first one of a fork's series was taken over, as a further part of a query of a
 * series: their leaves hold for the fork, too. They are found by what each one replaced, and also where the origin made them
 * void later, for messages that the fork does not share.
 */
export function inheritedStates(tx: Tx, state: LaneOfThread & { readonly generation: number }) {
  if (isNoFork(tx, state.threadId)) return tx``
  return tx`
    union all
    select id, generation, top_ids from (
      with recursive inherited as (
          select origin.id, origin.generation, origin.top_ids, origin.replaces
          from heddle.context_states as first
          cross join lateral (
            select * from heddle.context_states where context_states.id = first.replaces offset 0) as origin
          where first.thread_id = ${state.threadId} and first.lane = ${state.lane}
            and first.clear_epoch = ${state.clearEpoch} and first.status <> 'void'
            and first.generation <= ${state.generation} and origin.thread_id <> first.thread_id
        union all
          select origin.id, origin.generation, origin.top_ids, origin.replaces
          from inherited
          cross join lateral (
            select * from heddle.context_states where context_states.id = inherited.replaces offset 0) as origin
      )
      select * from inherited) as inherited`
}
