import type { PartialSettings } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import type { Columns, Rows } from '../schema/rows.js'
import { asQuotedArray } from '../sql/arrays.js'

/**
 * Lanes that requests ask for besides the thread's own: the budget, model or strategy of a request leads to one. They are
 * compacted in the background like the thread's own lane.
 */
export type KeptLaneRow = Columns<'keptLanes', 'lane' | 'settings' | 'askedAtMs' | 'usage'>

/** Tokens of a kept lane's context when the prune stage last settled it; null tokens if its messages must be read again. */
export type KeptUsage = NonNullable<Rows['keptLanes']['usage']>

/** The recorded lanes of a thread, the latest requested first. */
export async function loadKeptLanes(tx: Tx, { threadId }: { threadId: string }): Promise<KeptLaneRow[]> {
  return await tx<KeptLaneRow[]>`
    select lane, settings, asked_at as asked_at_ms, usage
    from heddle.kept_lanes
    where thread_id = ${threadId}
    order by asked_at desc, lane`
}

/** A lane to record with a context that was requested in it. */
export interface AskedLane {
  readonly lane: string
  /** The settings of the request that lead to it, over those of the agent and the thread. */
  readonly settings: PartialSettings
}

/**
 * Records that a lane was requested, as parts of the statement that stores the context: `finished` names the thread. A new
 * lane moves the cursors of prune and summarize behind the head, so that the reconciler finds the thread if a wake-up is lost.
 */
export function askedLaneInsert(tx: Tx, { lane, settings }: AskedLane) {
  return tx`
    kept as (
      insert into heddle.kept_lanes (thread_id, lane, settings)
      select thread_id, ${lane}, ${JSON.stringify(settings)}::text::json from finished
      on conflict (thread_id, lane) do update set asked_at = now()
      -- Only a row that was updated has a transaction that replaced it.
      returning thread_id, xmax = 0 as is_new
    ),
    behind as (
      update heddle.stage_cursors as cursor
      set
        prune_seq = least(prune_seq, greatest(head_seq - 1, base_seq)), prune_usage = null,
        summarize_seq = least(summarize_seq, greatest(head_seq - 1, base_seq))
      from kept
      where kept.is_new and cursor.thread_id = kept.thread_id
    )`
}

/** Stores the usage of settled lanes. Rows that were removed meanwhile stay removed. */
export async function recordKeptUsages(
  tx: Tx,
  { threadId, usages }: { threadId: string; usages: ReadonlyMap<string, KeptUsage> },
): Promise<void> {
  if (usages.size === 0) return
  await tx`
    update heddle.kept_lanes as kept set usage = given.usage::json
    from unnest(
      ${asQuotedArray([...usages.keys()])}::text[],
      ${asQuotedArray([...usages.values()].map((usage) => JSON.stringify(usage)))}::text[]
    ) as given (lane, usage)
    where kept.thread_id = ${threadId} and kept.lane = given.lane`
}

/** Removes the record of a lane and leaves its states, because it has become the thread's own. */
export async function forgetKeptLane(tx: Tx, { threadId, lane }: { threadId: string; lane: string }): Promise<void> {
  await tx`delete from heddle.kept_lanes where thread_id = ${threadId} and lane = ${lane}`
}

/**
 * Stops keeping a lane: its states become void, and are removed after their retention. The record goes with the last of them.
 *
 * @param statesMax states of one step
 * @returns how many rows were changed or removed; 0 if nothing is left
 */
export async function dropKeptLane(
  tx: Tx,
  { threadId, lane, statesMax }: { threadId: string; lane: string; statesMax: number },
): Promise<number> {
  const states = () => tx`
    select id from heddle.context_states
    where thread_id = ${threadId} and lane = ${lane} and status <> 'void'
    order by clear_epoch, generation
    limit ${statesMax}
    for update`
  // Sent in this order. The record is locked before its states in each process, so that two never wait for each other. The
  // lock on the states waits for one that replaces one of these; the next statement then sees it, too.
  const [, , voided, dropped] = await Promise.all([
    tx`select from heddle.kept_lanes where thread_id = ${threadId} and lane = ${lane} for update`,
    states(),
    tx`update heddle.context_states set status = 'void', voided_at = now() where id = any(array(${states()}))`,
    tx`
      delete from heddle.kept_lanes
      where thread_id = ${threadId} and lane = ${lane} and not exists (
        select from heddle.context_states as state
        where state.thread_id = ${threadId} and state.lane = ${lane} and state.status <> 'void')`,
  ])
  return voided.count + dropped.count
}

/**
 * Drops the lanes of some threads that nobody has requested since a time.
 *
 * @returns how many rows were changed or removed; 0 if nothing is left
 */
export async function dropUnaskedLanes(
  tx: Tx,
  { threadIds, beforeMs, statesMax }: { threadIds: string; beforeMs: number; statesMax: number },
): Promise<number> {
  const lanes = await tx<Columns<'keptLanes', 'threadId' | 'lane'>[]>`
    select thread_id, lane from heddle.kept_lanes
    where thread_id = any(${threadIds}::uuid[]) and asked_at < ${beforeMs}
    order by thread_id, lane
    for update skip locked`
  let changed = 0
  for (const one of lanes) {
    if (changed >= statesMax) break
    changed += await dropKeptLane(tx, { ...one, statesMax: statesMax - changed })
  }
  return changed
}
