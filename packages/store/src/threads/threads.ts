import type { PartialSettings, ThreadSummary } from '@heddle/contracts'
import type { LearntCalibration } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { noteLineage, type SharedRun, sharedRunsOf } from '../forks/lineage.js'
import { threadStands } from '../messages/tombstones.js'
import type { Columns, Rows } from '../schema/rows.js'
import { isOwn } from '../sql/own-project.js'

/** The tokens of a thread's uncovered messages in a context of one lane, under one state. */
export type PruneUsage = NonNullable<Rows['stageCursors']['pruneUsage']>

/** A thread with everything that a context build needs first. */
export interface ThreadRow
  extends Columns<'threads', 'name' | 'code' | 'agentId' | 'createdAtMs'>,
    Columns<'threadVersions', 'settings' | 'title' | 'goal' | 'status'>,
    Columns<'agents', 'clearEpoch' | 'lastClearedAtMs'>,
    Columns<'agentVersions', 'systemPrompt' | 'docs'>,
    Columns<
      'stageCursors',
      | 'threadId'
      | 'headSeq'
      | 'baseSeq'
      | 'sharedSeq'
      | 'restoredCount'
      | 'erasedCount'
      | 'pruneSeq'
      | 'pruneUsage'
      | 'summarizeSeq'
      | 'embedSeq'
      | 'rememberSeq'
      | 'iterationCount'
      | 'progressCount'
      | 'tokensEstimate'
      | 'lastMessageAtMs'
      | 'retryAtMs'
      | 'lastError'
    > {
  readonly projectName: string
  /** Where the messages that a fork shares are stored; empty for any other thread. */
  readonly sharedRuns: readonly SharedRun[]
  readonly agentName: string
  readonly agentVersion: number
  readonly agentSettings: PartialSettings
  /** The head of the thread at the agent's last clear: messages up to it are outside the window. 0 without a clear. */
  readonly clearedSeq: number
  /** The calibrations in force for the agent's models. */
  readonly calibrations: readonly LearntCalibration[]
}

/** Loads a thread in one query; null if it does not exist. */
export async function loadThread(tx: Tx, { threadId }: { threadId: string }): Promise<ThreadRow | null> {
  const [thread] = await tx<ThreadRow[]>`
    select
      thread.id as thread_id, thread.name, thread.code, project.name as project_name,
      coalesce(described.settings, '{}'::json) as settings,
      thread.created_at as created_at_ms, described.title, described.goal, described.status,
      agent.id as agent_id, agent.name as agent_name, agent.version as agent_version,
      configured.settings as agent_settings, configured.system_prompt, configured.docs,
      agent.clear_epoch, agent.last_cleared_at as last_cleared_at_ms, coalesce(cleared.head_seq, 0) as cleared_seq,
      cursor.head_seq, cursor.base_seq, cursor.shared_seq, cursor.restored_count, cursor.erased_count, cursor.prune_seq, cursor.prune_usage, cursor.summarize_seq, cursor.embed_seq,
      cursor.remember_seq, cursor.iteration_count, cursor.progress_count, cursor.tokens_estimate,
      cursor.last_message_at as last_message_at_ms, cursor.retry_at as retry_at_ms, cursor.last_error,
      coalesce((
        select json_agg(json_build_object('model', model, 'ratio', ratio, 'offset', "offset", 'margin', margin))
        from heddle.calibrations where calibrations.agent_id = agent.id
      ), '[]') as calibrations,
      ${sharedRunsOf(tx)} as shared_runs
    from heddle.threads as thread
    join heddle.stage_cursors as cursor on cursor.thread_id = thread.id
    join heddle.projects as project on project.project_id = thread.project_id
    join heddle.agents as agent on agent.id = thread.agent_id
    join heddle.agent_versions as configured
      on configured.agent_id = agent.id and configured.version = agent.version
    left join heddle.thread_versions as described
      on described.thread_id = thread.id and described.version = thread.version
    left join heddle.thread_clears as cleared
      on cleared.thread_id = thread.id and cleared.epoch = agent.clear_epoch
    where thread.id = ${threadId} and ${threadStands(tx)}`
  if (thread === undefined) return null
  noteLineage(tx, threadId, thread.sharedRuns)
  return thread
}

export interface ThreadListing {
  readonly agentId?: string
  /** Only threads whose name or title contains it, whatever its case. */
  readonly search?: string | undefined
  readonly limit: number
  /** The last name of the previous page. */
  readonly afterName?: string
}

export interface ThreadSummaryRow
  extends Omit<ThreadSummary, 'agent' | 'lastMessageAt' | 'createdAt' | 'cursors'>,
    Columns<'stageCursors', 'pruneSeq' | 'summarizeSeq' | 'embedSeq' | 'rememberSeq'> {
  readonly agentName: string
  readonly lastMessageAtMs: number | null
  readonly createdAtMs: number
}

/** A page of the project's threads, by name. */
export async function listThreads(
  tx: Tx,
  { agentId, search, limit, afterName = '' }: ThreadListing,
): Promise<ThreadSummaryRow[]> {
  return await tx<ThreadSummaryRow[]>`
    select
      thread.id as thread_id, thread.name, thread.code, agent.name as agent_name, described.title, described.status,
      cursor.head_seq - cursor.base_seq - cursor.restored_count as messages, cursor.tokens_estimate, cursor.last_message_at as last_message_at_ms,
      cursor.last_error, thread.created_at as created_at_ms, cursor.head_seq, cursor.prune_seq, cursor.summarize_seq, cursor.embed_seq,
      cursor.remember_seq, newest.context as last_context
    from heddle.threads as thread
    join heddle.stage_cursors as cursor on cursor.thread_id = thread.id
    join heddle.agents as agent on agent.id = thread.agent_id
    left join heddle.thread_versions as described
      on described.thread_id = thread.id and described.version = thread.version
    left join lateral (
      select json_build_object('id', built.id, 'tokensUsed', built.tokens_used, 'budget', built.budget) as context
      from heddle.contexts as built
      where built.thread_id = thread.id and built.status = 'built' and built.prepared_count = 0
      order by built.requested_at desc
      limit 1
    ) as newest on true
    where thread.name > ${afterName} and ${containsText(tx, search)} and ${agentId === undefined ? tx`true` : tx`thread.agent_id = ${agentId}`}
      and ${isOwn(tx, 'thread')} and ${threadStands(tx)}
    order by thread.name
    limit ${limit}`
}

function containsText(tx: Tx, search: string | undefined) {
  if (search === undefined) return tx`true`
  // Not `ilike`: a name may contain its wildcards.
  const text = tx`lower(${search}::text)`
  return tx`(position(${text} in lower(thread.name)) > 0 or position(${text} in lower(coalesce(described.title, ''))) > 0)`
}
