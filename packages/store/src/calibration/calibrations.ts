import {
  type CalibratedModel,
  type CountedReply,
  FIT_SAMPLES_MAX,
  type LearntCalibration,
  learnCalibrations,
  nextCalibration,
} from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import type { Rows } from '../schema/rows.js'
import { toStorable } from '../sql/text.js'

export type CalibrationRow = Readonly<Omit<Rows['calibrations'], 'projectId' | 'agentId'>>

/** Replies that one learning reads: those of two models in turn. */
const REPLIES_MAX = 2 * FIT_SAMPLES_MAX
/** Messages between two replies whose roles are looked at. */
const ADDED_MESSAGES_MAX = 50
/** Figures that change nothing in force are written at most this often. */
const WRITE_SECONDS = 30
/** Models of an agent with a calibration; those learnt least recently go. */
export const CALIBRATED_MODELS_MAX = 32

/** Whether messages that the prune stage has not seen yet answer contexts and say what their provider counted. */
export async function hasNewReports(tx: Tx, { threadId }: { readonly threadId: string }): Promise<boolean> {
  const [row] = await tx<{ found: boolean }[]>`
    select exists (
      select from heddle.stage_cursors as cursor
      join heddle.context_items as answered
        on answered.thread_id = cursor.thread_id and answered.answered_seq > cursor.prune_seq
      where cursor.thread_id = ${threadId}
    ) as found`
  return row?.found ?? false
}

/** The calibrations in force for an agent's models, with the figures learnt last; the latest first. */
export async function listCalibrations(tx: Tx, { agentId }: { readonly agentId: string }): Promise<CalibrationRow[]> {
  return await tx<CalibrationRow[]>`
    select
      model, provider, ratio, "offset", margin, changed_at as changed_at_ms, learnt_ratio, learnt_offset, learnt_margin,
      samples, kinds, learnt_at as learnt_at_ms
    from heddle.calibrations
    where agent_id = ${agentId}
    order by learnt_at desc, model
    limit ${CALIBRATED_MODELS_MAX}`
}

/** A calibration in force, with the name of its agent. */
export interface AgentCalibration extends LearntCalibration {
  readonly agent: string
}

/** The calibrations of the project that expect the most tokens for a context of 100,000. */
export async function listStrongest(tx: Tx, { limit }: { readonly limit: number }): Promise<AgentCalibration[]> {
  return await tx<AgentCalibration[]>`
    select agent.name as agent, learnt.model, learnt.ratio, learnt.offset, learnt.margin
    from heddle.calibrations as learnt
    join heddle.agents as agent on agent.id = learnt.agent_id
    where learnt.project_id = current_setting('heddle.project_id')::uuid
    order by (learnt.offset + 100000 * learnt.ratio) * (1 + learnt.margin) desc, agent.name, learnt.model
    limit ${limit}`
}

/**
 * Learns from the newest replies of an agent. The result depends on these alone, so that a repeated job changes nothing.
 *
 * @returns the models whose calibration in force changed
 */
export async function learnFromReplies(tx: Tx, { agentId }: { readonly agentId: string }): Promise<string[]> {
  const [rows, replies] = await Promise.all([
    tx<(LearntCalibration & { isFresh: boolean })[]>`
      select model, ratio, "offset", margin, learnt_at > now() - ${WRITE_SECONDS}::integer * interval '1 second' as is_fresh
      from heddle.calibrations
      where agent_id = ${agentId}`,
    loadCountedReplies(tx, agentId),
  ])
  const changed: string[] = []
  for (const learnt of learnCalibrations(replies)) {
    const current = rows.find(({ model }) => model === learnt.model)
    const next = nextCalibration(current ?? null, learnt.fit)
    const isSame = next === current
    if (isSame && current.isFresh) continue
    await writeCalibration(tx, agentId, learnt, next)
    if (!isSame) changed.push(learnt.model)
  }
  if (changed.length > 0) await dropOldest(tx, agentId)
  return changed
}

async function loadCountedReplies(tx: Tx, agentId: string): Promise<CountedReply[]> {
  const rows = await tx<CountedReply[]>`
    with answered as (
      select shown.thread_id, shown.answered_seq, shown.built_at, shown.context_id, shown.tokens_used
      from heddle.context_items as shown
      where shown.agent_id = ${agentId} and shown.answered_seq is not null and shown.tokens_used > 0
      order by shown.built_at desc
      limit ${REPLIES_MAX}
    ),
    placed as (
      select answered.*, lag(answered_seq) over (partition by thread_id order by answered_seq) as previous_seq
      from answered
    )
    select message.model, message.usage, placed.tokens_used as counted, placed.thread_id, (
      select json_object_agg(role, tokens) from (
        select added.role, sum(added.tokens_estimate) as tokens
        from heddle.messages as added
        where added.thread_id = placed.thread_id and added.seq >= placed.previous_seq and added.seq < placed.answered_seq
          and placed.answered_seq - placed.previous_seq <= ${ADDED_MESSAGES_MAX}
        group by added.role) as by_role
    ) as added
    from placed
    cross join lateral (
      select model, usage from heddle.messages
      where messages.thread_id = placed.thread_id and messages.seq = placed.answered_seq
      offset 0) as message
    left join heddle.contexts as context on context.id = placed.context_id
    where message.model is not null and message.usage is not null
      and coalesce(context.request ->> 'counter', 'o200k') = 'o200k'
    order by placed.built_at, placed.answered_seq`
  return rows
}

async function writeCalibration(
  tx: Tx,
  agentId: string,
  { model, provider, fit, kinds }: CalibratedModel,
  { ratio, offset, margin }: Omit<LearntCalibration, 'model'>,
): Promise<void> {
  await tx`
    insert into heddle.calibrations as kept (
      agent_id, model, provider, ratio, "offset", margin, learnt_ratio, learnt_offset, learnt_margin, samples, kinds)
    values (
      ${agentId}, ${toStorable(model)}, ${toStorable(provider)}, ${ratio}::float8, ${offset}::integer, ${margin}::float8,
      ${fit.ratio}::float8, ${Math.round(fit.offset)}::integer, ${fit.margin}::float8, ${fit.samples}::integer,
      ${JSON.stringify(kinds)}::json)
    on conflict (agent_id, model) do update set
      ratio = excluded.ratio, "offset" = excluded.offset, margin = excluded.margin,
      changed_at = case
        when (kept.ratio, kept.offset, kept.margin) = (excluded.ratio, excluded.offset, excluded.margin) then kept.changed_at
        else excluded.changed_at end,
      learnt_ratio = excluded.learnt_ratio, learnt_offset = excluded.learnt_offset, learnt_margin = excluded.learnt_margin,
      samples = excluded.samples, kinds = excluded.kinds, learnt_at = excluded.learnt_at`
}

async function dropOldest(tx: Tx, agentId: string): Promise<void> {
  await tx`
    delete from heddle.calibrations
    where agent_id = ${agentId} and model in (
      select model from heddle.calibrations
      where agent_id = ${agentId}
      order by learnt_at desc, model
      offset ${CALIBRATED_MODELS_MAX})`
}
