import { PermanentError } from '@heddle/contracts'
import { agentIdOf, CODE_CHARACTERS, shortCode, threadIdOf } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { startThreadItems } from '../items/thread-items.js'
import { asArray } from '../sql/arrays.js'
import { assertStorable } from '../sql/text.js'
import { agentConflict, erasedError } from './append-plan.js'
import { shareErasureLock } from './tombstones.js'

export interface NewThread {
  readonly threadId: string
  readonly thread: string
  readonly agentId: string
  readonly agent: string
  readonly newAgentRollingWindow?: number | null | undefined
}

/** Longer codes practically never collide; a few attempts suffice for any number of threads. */
const CODE_CHARACTERS_MAX = 24

/**
 * Creates missing threads with their project, agents and cursors. Existing rows stay unchanged.
 *
 * It does not check for tombstones: the caller must check for them afterwards, and roll back if there is one.
 *
 * Invariant: rows are inserted in the order of their ids, table by table, and no cursor is locked before; so processes that
 * create the same threads at once wait for each other but never deadlock.
 */
export async function ensureThreads(
  tx: Tx,
  projectId: string,
  threads: readonly NewThread[],
  projectName?: string,
): Promise<void> {
  const agents = [...new Map(threads.map((thread) => [thread.agentId, thread])).values()].map((thread) => ({
    id: thread.agentId,
    name: thread.agent,
    settings: JSON.stringify(
      thread.newAgentRollingWindow === undefined ? {} : { rollingWindow: thread.newAgentRollingWindow },
    ),
  }))
  const agentRows = JSON.stringify(agents)
  await Promise.all([
    shareErasureLock(tx),
    tx`
      insert into heddle.projects (project_id, name)
      values (${projectId}, ${projectName ?? projectId})
      on conflict do nothing`,
    tx`
      insert into heddle.agents (id, name)
      select id, name from json_to_recordset(${agentRows}::text::json) as agent (id uuid, name text)
      order by id
      on conflict do nothing`,
    tx`
      insert into heddle.agent_versions (agent_id, version, settings)
      select id, 1, settings::json from json_to_recordset(${agentRows}::text::json) as agent (id uuid, settings text)
      order by id
      on conflict do nothing`,
  ])
  await insertThreads(tx, threads, CODE_CHARACTERS)
}

async function insertThreads(tx: Tx, threads: readonly NewThread[], codeCharacters: number): Promise<void> {
  const rows = threads.map(({ threadId, thread, agentId }) => ({
    id: threadId,
    name: thread,
    code: shortCode(threadId, codeCharacters),
    agent_id: agentId,
  }))
  const ids = threads.map(({ threadId }) => threadId)
  const [made, , present] = await Promise.all([
    tx<{ id: string }[]>`
      insert into heddle.threads (id, name, code, agent_id)
      select id, name, code, agent_id
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as thread (id uuid, name text, code text, agent_id uuid)
      order by id
      on conflict do nothing
      returning id`,
    tx`
      insert into heddle.stage_cursors (
        thread_id, base_seq, head_seq, prune_seq, summarize_seq, embed_seq, erased_at)
      select thread.id, base, base, base, base, base, freed.erased_at
      from heddle.threads as thread
      -- Threads whose name is one that was erased and is free again: see freeName.
      cross join lateral (
        select max(created_at) as erased_at, coalesce(max(head_seq) + 1, 0) as base
        from heddle.tombstones where freed_id = thread.id) as freed
      where thread.id = any(${asArray(ids)}::uuid[])
      order by thread.id
      on conflict do nothing`,
    tx<{ id: string }[]>`select id from heddle.threads where id = any(${asArray(ids)}::uuid[])`,
  ])
  // If two processes create a thread at once, the one that inserted the row adds its items.
  if (made.length > 0)
    await startThreadItems(
      tx,
      made.map(({ id }) => id),
    )
  const found = new Set(present.map(({ id }) => id))
  const missing = threads.filter(({ threadId }) => !found.has(threadId))
  if (missing.length === 0) return
  // Another thread of the project has the same short code: the later one gets a longer code.
  if (codeCharacters === CODE_CHARACTERS_MAX)
    throw new PermanentError('INTERNAL', 'no short code is free for a new thread')
  await insertThreads(tx, missing, codeCharacters + 1)
}

export interface ThreadToEnsure {
  readonly projectId: string
  readonly projectName?: string
  readonly agent: string
  readonly thread: string
  readonly newAgentRollingWindow?: number | null
}

/**
 * Creates a thread and its agent unless they exist.
 *
 * @throws ConflictError if the thread belongs to another agent, or one of them was erased
 */
export async function ensureThread(tx: Tx, wanted: ThreadToEnsure): Promise<{ threadId: string; agentId: string }> {
  const { projectId, agent, thread } = wanted
  assertStorable('agent', agent)
  assertStorable('thread', thread)
  const agentId = agentIdOf(projectId, agent)
  const threadId = threadIdOf(projectId, thread)
  const look = () =>
    Promise.all([
      tx<{ agentId: string }[]>`
        select thread.agent_id from heddle.threads as thread
        join heddle.stage_cursors as cursor on cursor.thread_id = thread.id
        where thread.id = ${threadId}`,
      tx<{ kind: 'project' | 'agent' | 'thread' }[]>`
        select kind from heddle.tombstones where target_id in (${projectId}, ${agentId}, ${threadId})`,
    ])

  let [[found], [tombstone]] = await look()
  if (tombstone) throw erasedError(tombstone.kind, { project: projectId, agent, thread }[tombstone.kind])
  if (found === undefined) {
    await ensureThreads(tx, projectId, [{ ...wanted, threadId, agentId }], wanted.projectName)
    ;[[found], [tombstone]] = await look()
    // The error rolls the inserts back.
    if (tombstone) throw erasedError(tombstone.kind, { project: projectId, agent, thread }[tombstone.kind])
  }
  if (found?.agentId !== agentId) throw agentConflict({ agent, thread })
  return { threadId, agentId }
}
