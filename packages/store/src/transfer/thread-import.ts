import type { ExportRecordOf } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { ensureThread } from '../messages/ensure-threads.js'
import { putAgent } from '../projects/agents.js'
import { givenColumns, insertColumns, recordColumns } from './export-columns.js'
import { exportTables } from './export-tables.js'

export interface ImportTarget {
  readonly projectId: string
  readonly projectName: string
  readonly thread: string
}

/**
 * Creates the agent with its prompt, docs, settings and clears unless one has its name, and the thread unless it exists.
 * Existing ones stay unchanged.
 *
 * @throws ConflictError if the thread belongs to another agent, or one of them was erased
 */
export async function beginImport(
  tx: Tx,
  { projectId, projectName, thread: name }: ImportTarget,
  { thread, agent }: ExportRecordOf<'thread'>,
): Promise<{ threadId: string }> {
  const [present] = await tx`select from heddle.agents where name = ${agent.name}`
  if (present === undefined) {
    const { systemPrompt, docs, settings } = agent
    const { agentId } = await putAgent(tx, { projectId, name: agent.name, systemPrompt, docs, settings })
    await tx`
      update heddle.agents set clear_epoch = ${agent.clearEpoch}, last_cleared_at = ${agent.lastClearedAt}::text::timestamptz
      where id = ${agentId}`
    await tx`
      insert into heddle.agent_clears (agent_id, epoch, cleared_at, created_at)
      select ${agentId}, given.epoch, given."clearedAt", given."createdAt"
      from json_to_recordset(${JSON.stringify(agent.clears)}::text::json) as given (
        epoch integer, "clearedAt" timestamptz, "createdAt" timestamptz)
      on conflict do nothing`
  }
  const [existing] = await tx`select from heddle.threads where id = ${threadIdOf(projectId, name)}`
  const { threadId } = await ensureThread(tx, { projectId, projectName, agent: agent.name, thread: name })
  // A new thread gets the items of its agent; an imported one has only its own.
  if (existing === undefined) await tx`delete from heddle.thread_items where thread_id = ${threadId}`
  // Only on the first import: later changes of the thread stay.
  await tx`
    update heddle.threads as thread
    set created_at = ${thread.createdAt}::text::timestamptz, active_at = ${thread.activeAt}::text::timestamptz
    where thread.id = ${threadId} and thread.version = 0
      and exists (select from heddle.stage_cursors as cursor where cursor.thread_id = thread.id and cursor.head_seq = 0)`
  return { threadId }
}

type SimpleType =
  | 'threadVersion'
  | 'process'
  | 'runningProcess'
  | 'iteration'
  | 'progressSummary'
  | 'clear'
  | 'undone'
  | 'pin'
  | 'block'

/** Adds rows of one table. Existing rows stay unchanged. */
export async function importRows<Type extends SimpleType>(
  tx: Tx,
  { threadId, type, records }: { threadId: string; type: Type; records: readonly ExportRecordOf<Type>[] },
): Promise<number> {
  const definition = exportTables[type]
  if (type === 'block') await importBlocks(tx, threadId, records as readonly ExportRecordOf<'block'>[])
  const { count } = await tx`
    insert into heddle.${tx(definition.table)} (thread_id, ${insertColumns(tx, definition)})
    select ${threadId}, ${givenColumns(tx, definition)}
    from json_to_recordset(${JSON.stringify(records)}::text::json) as given (${recordColumns(tx, definition)})
    on conflict do nothing`
  if (type === 'threadVersion') {
    await tx`
      update heddle.threads
      set version = (select max(version) from heddle.thread_versions where thread_id = ${threadId})
      where id = ${threadId}`
  }
  // The summarize stage checks whether the imported summaries are current.
  if (type === 'iteration') {
    await tx`
      update heddle.stage_cursors set iteration_count = iteration_count + ${count}::integer where thread_id = ${threadId}`
  }
  return count
}

/** The blocks of some versions, which refer to them. */
async function importBlocks(tx: Tx, threadId: string, records: readonly ExportRecordOf<'block'>[]): Promise<void> {
  await tx`
    insert into heddle.memory_blocks as block (thread_id, label, version)
    select ${threadId}, given.label, max(given.version)
    from json_to_recordset(${JSON.stringify(records)}::text::json) as given (label text, version integer)
    group by given.label
    on conflict (owner_id, label) do update set version = greatest(block.version, excluded.version)`
}

/** Copies the cursors of the exported thread, so that no stage repeats work whose result was imported. */
export async function finishImport(
  tx: Tx,
  { threadId, header }: { threadId: string; header: ExportRecordOf<'thread'> },
): Promise<void> {
  const { pruneSeq, summarizeSeq } = header.thread
  await tx`
    update heddle.stage_cursors
    set
      prune_seq = greatest(prune_seq, least(head_seq, ${pruneSeq})), prune_usage = null,
      summarize_seq = greatest(summarize_seq, least(head_seq, ${summarizeSeq}))
    where thread_id = ${threadId}`
}
