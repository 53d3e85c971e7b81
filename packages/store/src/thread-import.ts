import { createHash } from 'node:crypto'
import { ConflictError, type ExportRecordOf, validationError } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { putAgent } from './agents.js'
import { storeContents } from './archive.js'
import type { Tx } from './connection.js'
import { ensureThread } from './ensure-threads.js'
import { exportTables, givenColumns, insertColumns, recordColumns } from './export-tables.js'
import { encodeText } from './text.js'
import { recordTokenCounts } from './token-counts.js'

export interface ImportTarget {
  readonly projectId: string
  readonly projectName: string
  /** The name under which the thread is imported. */
  readonly thread: string
}

/**
 * Makes what an import needs: the agent with its prompt, docs, settings and clears where there is none of its name, and the
 * thread. An agent and a thread that are there stay as they are.
 *
 * @throws ConflictError where the thread belongs to another agent, or where one of them was erased
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
  const [thereBefore] = await tx`select from heddle.threads where id = ${threadIdOf(projectId, name)}`
  const { threadId } = await ensureThread(tx, { projectId, projectName, agent: agent.name, thread: name })
  // It holds what it held, and not what a thread of the agent that starts here would.
  if (thereBefore === undefined) await tx`delete from heddle.thread_items where thread_id = ${threadId}`
  // Only where nothing was imported yet: what the thread went through since stays.
  await tx`
    update heddle.threads as thread
    set created_at = ${thread.createdAt}::text::timestamptz, active_at = ${thread.activeAt}::text::timestamptz
    where thread.id = ${threadId} and thread.version = 0
      and exists (select from heddle.stage_cursors as cursor where cursor.thread_id = thread.id and cursor.head_seq = 0)`
  return { threadId }
}

type SimpleType = 'threadVersion' | 'process' | 'runningProcess' | 'iteration' | 'progressSummary' | 'clear' | 'undone'

/** Adds rows of one table; those whose key is taken stay as they are. */
export async function importRows<Type extends SimpleType>(
  tx: Tx,
  { threadId, type, records }: { threadId: string; type: Type; records: readonly ExportRecordOf<Type>[] },
): Promise<number> {
  const definition = exportTables[type]
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
  // The summarize stage looks whether the summaries that come with them are as they should be.
  if (type === 'iteration') {
    await tx`
      update heddle.stage_cursors set iteration_count = iteration_count + ${count}::integer where thread_id = ${threadId}`
  }
  return count
}

/** Adds contents. They are hashed anew: a file cannot put a content under another one's hash. */
export async function importContents(tx: Tx, texts: readonly string[]): Promise<void> {
  const contents = texts.map((text) => encodeText(text))
  await storeContents(tx, new Map(contents.map((content) => [hashOf(content), content])))
}

function hashOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Adds archive entries whose contents are there. */
export async function importArchive(
  tx: Tx,
  { threadId, records }: { threadId: string; records: readonly ExportRecordOf<'archive'>[] },
): Promise<number> {
  const definition = exportTables.archive
  const [row] = await tx<{ added: number; missing: number }[]>`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(records)}::text::json) as given (${recordColumns(tx, definition)})
    ),
    held as materialized (
      select content.project_id, content.hash from heddle.archive_contents as content
      where content.project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
        and content.hash in (select "contentHash" from given)
      order by content.hash
      for no key update
    ),
    added as (
      insert into heddle.archive (id, thread_id, ${insertColumns(tx, definition)})
      select gen_random_uuid(), ${threadId}, ${givenColumns(tx, definition)}
      from given
      where "contentHash" in (select hash from held)
      on conflict (thread_id, message_id, location) do nothing
      returning content_hash
    ),
    referenced as (select content_hash, count(*) as times from added group by content_hash),
    counted as (
      update heddle.archive_contents as content
      set reference_count = content.reference_count + referenced.times
      from referenced
      where content.project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
        and content.hash = referenced.content_hash
    )
    select
      (select count(*) from added) as added,
      (select count(*) from given where "contentHash" not in (select hash from held)) as missing`
  if (row !== undefined && row.missing > 0) {
    throw validationError(
      'contentHash',
      'must name a content that stands before it in the file',
      `${row.missing} others`,
    )
  }
  return row?.added ?? 0
}

/**
 * Whether a thread holds the messages of a file, as far as it goes: an import adds to what an earlier one began, and to the
 * thread that was exported, but mixes no two conversations.
 *
 * @throws ConflictError
 */
export async function checkMessages(
  tx: Tx,
  { threadId, name, records }: { threadId: string; name: string; records: readonly ExportRecordOf<'message'>[] },
): Promise<void> {
  const given = records.map(({ seq, id, fingerprint }) => ({ seq, id, fingerprint }))
  const [other] = await tx`
    select stored.seq
    from json_to_recordset(${JSON.stringify(given)}::text::json) as given (seq bigint, id uuid, fingerprint bytea)
    cross join lateral (
      select seq, id, fingerprint from heddle.messages
      where messages.thread_id = ${threadId} and messages.seq = given.seq
      offset 0) as stored
    where stored.id <> given.id or stored.fingerprint <> given.fingerprint
    limit 1`
  if (other === undefined) return
  throw new ConflictError(`thread "${name}" holds other messages than the file`, {
    field: 'as',
    received: name,
    hint: 'Import it under another name: --as NAME.',
  })
}

/** Adds those messages that a thread does not hold yet, with their exact counts, under the lock of its sequence. */
export async function importMessages(
  tx: Tx,
  { threadId, name, records }: { threadId: string; name: string; records: readonly ExportRecordOf<'message'>[] },
): Promise<number> {
  const definition = exportTables.message
  const [cursor] = await tx<{ headSeq: number }[]>`
    select head_seq from heddle.stage_cursors where thread_id = ${threadId} for update`
  await checkMessages(tx, { threadId, name, records })
  const headSeq = cursor?.headSeq ?? 0
  const fresh = records.filter(({ seq }) => seq > headSeq)
  const [first, last] = [fresh[0], fresh.at(-1)]
  if (first === undefined || last === undefined) return 0
  if (first.seq !== headSeq + 1) throw new ConflictError(`thread "${name}" was erased or changed while it was imported`)
  const given = JSON.stringify(fresh)
  await Promise.all([
    tx`
      insert into heddle.messages (thread_id, ${insertColumns(tx, definition)})
      select ${threadId}, ${givenColumns(tx, definition)}
      from json_to_recordset(${given}::text::json) as given (${recordColumns(tx, definition)})`,
    recordTokenCounts(tx, {
      threadId,
      counts: fresh.flatMap(({ seq, tokens }) => (tokens === null ? [] : { seq, tokens })),
    }),
    tx`
      update heddle.stage_cursors
      set
        head_seq = ${last.seq}, last_message_at = greatest(last_message_at, ${last.latestAt}::text::timestamptz),
        tokens_estimate = tokens_estimate + ${fresh.reduce((sum, { tokensEstimate }) => sum + tokensEstimate, 0)}
      where thread_id = ${threadId}`,
  ])
  return fresh.length
}

/** Takes over how far the exported thread was pruned and summarized, so that no stage does again what was imported. */
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
