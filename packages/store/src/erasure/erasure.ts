import { ConflictError } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { forksOf } from '../forks/fork-decisions.js'
import { takeErasureLock } from '../messages/tombstones.js'
import { inEachDatabase } from '../placement/databases.js'
import type { Columns } from '../schema/rows.js'
import type { Store } from '../store.js'
import type { ErasureStep, Removed } from './erasure-step.js'
import { takersOf } from './erasure-takers.js'
import { takeOfMessages } from './messages/message-takers.js'

export type ErasureTarget = Columns<'tombstones', 'projectId' | 'kind' | 'targetId'>

/** A target that has a name of its own: all but messages. */
type NamedTarget = { readonly kind: Exclude<ErasureTarget['kind'], 'messages'>; readonly targetId: string }

export interface Erasure extends Columns<'tombstones', 'finishedAtMs' | 'removed'> {
  readonly begunAtMs: number
}

/**
 * Inserts the tombstone of a thread, an agent or a project. From the commit on the target is invisible, jobs for it are
 * refused, and {@link continueErasure} can remove it. Concurrent work is blocked for no longer than a request.
 *
 * @param evenIfMissing for a target that exists only in queued jobs
 * @param reuse frees the name once nothing is left; also for an earlier erasure. Default false
 * @returns false if the target does not exist and never did; true also if it was erased before
 * @throws ConflictError for a thread whose messages forks share, and for reuse of the name of a fork
 */
export async function beginErasure(
  tx: Tx,
  { kind, targetId }: NamedTarget,
  { evenIfMissing = false, reuse = false }: { evenIfMissing?: boolean; reuse?: boolean } = {},
): Promise<boolean> {
  // Separate statements: the next one must take its snapshot after the lock was acquired.
  await takeErasureLock(tx)
  if (kind === 'thread') await refuseForks(tx, targetId, reuse)
  const { count } = await tx`
    insert into heddle.tombstones (target_id, kind, reuse, agent_id)
    select ${targetId}, ${kind}, ${reuse}, (select agent_id from heddle.threads where id = ${targetId})
    where ${evenIfMissing} or ${
      {
        thread: tx`exists (select from heddle.threads where id = ${targetId})`,
        agent: tx`exists (select from heddle.agents where id = ${targetId})`,
        project: tx`exists (select from heddle.projects where project_id = ${targetId})`,
      }[kind]
    }
    on conflict do nothing`
  if (count === 1) return true
  const again = await tx`
    update heddle.tombstones set reuse = reuse or ${reuse} where target_id = ${targetId} and kind = ${kind}`
  return again.count === 1
}

const FORKS_NAMED_MAX = 20

/** Forks would lose messages with the thread. The forks of an agent that is erased are erased as well. */
async function refuseForks(tx: Tx, threadId: string, reuse: boolean): Promise<void> {
  const forks = await forksOf(tx, threadId, FORKS_NAMED_MAX)
  if (forks.length > 0) {
    throw new ConflictError(`${forks.length} or more forks share the messages of the thread`, {
      field: 'thread',
      received: forks.join(', '),
      facts: { forks },
      hint: 'Erase its forks first, or only the messages: these are erased in the forks, too.',
    })
  }
  if (!reuse) return
  const { count } = await tx`
    select where exists (select from heddle.thread_origins where thread_id = ${threadId}) or exists (
      select from heddle.tombstones
      where target_id = ${threadId} and kind = 'thread' and removed ->> 'thread_origins' is not null)`
  if (count === 0) return
  throw new ConflictError('the name of a fork is not used again', {
    field: 'reuse',
    received: 'true',
    hint: 'Erase it without reuse, and use another name.',
  })
}

/** The latest erasure of a target, also if its name was freed. @returns null without one */
export async function loadErasure(
  tx: Tx,
  { kind, targetId }: Pick<ErasureTarget, 'kind' | 'targetId'>,
): Promise<Erasure | null> {
  const [erasure] = await tx<Erasure[]>`
    select created_at as begun_at_ms, finished_at as finished_at_ms, removed
    from heddle.tombstones
    where (target_id = ${targetId} or freed_id = ${targetId}) and kind = ${kind}
    order by created_at desc
    limit 1`
  return erasure ?? null
}

/**
 * Removes everything of a target that {@link beginErasure} marked, in small transactions. It may be interrupted at any point
 * and continued by any process, also by several at once; after the end it does nothing.
 *
 * @throws the signal's reason, between two steps
 */
export async function continueErasure(store: Store, target: ErasureTarget, signal?: AbortSignal): Promise<void> {
  const { projectId } = target
  while (target.kind === 'agent' || target.kind === 'project') {
    signal?.throwIfAborted()
    const part = await store.inProject(projectId, (tx) => nextPart(tx, target))
    if (part === null) break
    await continueErasure(store, { projectId, ...part }, signal)
  }
  for (;;) {
    signal?.throwIfAborted()
    if (await store.inProject(projectId, (tx) => eraseSome(tx, target))) break
  }
  await store.inProject(projectId, (tx) => freeName(tx, target))
}

/**
 * Frees the name of an erased target, if requested: the tombstone gets another id, so that it no longer refuses anything. A new
 * thread with the name continues the sequence from the head of the erased one, and refuses its messages: see `freed_id`.
 *
 * Runs under the project's erasure lock: a process that creates a thread sees either the tombstone or a free name.
 */
async function freeName(tx: Tx, target: ErasureTarget): Promise<void> {
  const { kind, targetId } = target
  if (kind === 'project' || kind === 'messages') return
  await takeErasureLock(tx)
  const record = await lockRecord(tx, target)
  if (record === null || !record.reuse) return
  const ofAgent = tx`kind = 'thread' and agent_id = ${targetId} and finished_at is not null and freed_id is null`
  await Promise.all([
    tx`
      update heddle.tombstones
      set freed_id = target_id, target_id = gen_random_uuid(), finished_at = coalesce(finished_at, now())
      where target_id = ${targetId} and kind = ${kind}`,
    ...(kind === 'agent'
      ? [tx`update heddle.tombstones set freed_id = target_id, target_id = gen_random_uuid() where ${ofAgent}`]
      : []),
  ])
  if (record.finishedAtMs === null) await addToWhole(tx, target, record)
}

/** The remaining threads of an agent. */
export async function loadThreadIdsOf(tx: Tx, { agentId }: { agentId: string }): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`select id from heddle.threads where agent_id = ${agentId}`
  return rows.map(({ id }) => id)
}

/** A thread of an agent or an agent of a project, with its own tombstone; null if none is left. */
async function nextPart(
  tx: Tx,
  { kind, targetId }: ErasureTarget,
): Promise<Pick<ErasureTarget, 'kind' | 'targetId'> | null> {
  // Existing rows are read before tombstones: if another process removes a row in between, its tombstone is found.
  const [next] = await tx<{ id: string }[]>`
    ${kind === 'agent' ? tx`select id from heddle.threads where agent_id = ${targetId}` : tx`select id from heddle.agents`}
    limit 1`
  const [begun] = await tx<Columns<'tombstones', 'kind' | 'targetId'>[]>`
    select kind, target_id from heddle.tombstones
    where finished_at is null and ${kind === 'agent' ? tx`agent_id = ${targetId}` : tx`kind <> 'project'`}
    order by kind
    limit 1`
  if (begun !== undefined) return begun
  if (next === undefined) return null
  const part: NamedTarget = { kind: kind === 'agent' ? 'thread' : 'agent', targetId: next.id }
  await beginErasure(tx, part)
  return part
}

type Progress = Columns<'tombstones', 'agentId' | 'finishedAtMs' | 'removed' | 'reuse'>

/**
 * One step: removes some rows of the first kind that has any left. The tombstone's row is locked, so that several processes run
 * their steps one after another, and the counts are stored in the same transaction as the removal.
 *
 * @returns whether nothing is left
 */
async function eraseSome(tx: Tx, target: ErasureTarget): Promise<boolean> {
  const { kind, targetId } = target
  const record = await lockRecord(tx, target)
  if (record === null || record.finishedAtMs !== null) return true
  const { removed, isDone } =
    kind === 'messages' ? await takeOfMessages(tx, target) : await takeSome(tx, { ...target, kind }, record)
  if (Object.values(removed).some((count = 0) => count > 0)) {
    await writeRemoved(tx, target, added(record.removed, removed))
  }
  if (!isDone) return false
  // It is finished when its name is freed: see freeName.
  if (record.reuse) return true
  await tx`update heddle.tombstones set finished_at = now() where target_id = ${targetId} and kind = ${kind}`
  await addToWhole(tx, target, record)
  return true
}

/** Runs the first taker that finds any rows. */
async function takeSome(
  tx: Tx,
  target: NamedTarget & { readonly projectId: string },
  { agentId }: Progress,
): Promise<ErasureStep> {
  for (const take of takersOf(target.kind)) {
    const removed = await take(tx, { ...target, agentId })
    if (Object.values(removed).some((count = 0) => count > 0)) return { removed, isDone: false }
  }
  return { removed: {}, isDone: true }
}

async function lockRecord(
  tx: Tx,
  { kind, targetId }: Pick<ErasureTarget, 'kind' | 'targetId'>,
): Promise<Progress | null> {
  const [record] = await tx<Progress[]>`
    select agent_id, finished_at as finished_at_ms, removed, reuse
    from heddle.tombstones
    where target_id = ${targetId} and kind = ${kind}
    for update`
  return record ?? null
}

async function writeRemoved(
  tx: Tx,
  { kind, targetId }: Pick<ErasureTarget, 'kind' | 'targetId'>,
  removed: Record<string, number>,
): Promise<void> {
  await tx`
    update heddle.tombstones set removed = ${JSON.stringify(removed)}::text::json
    where target_id = ${targetId} and kind = ${kind}`
}

/** Adds the rows removed of a part to the counts of the whole that is being erased. */
async function addToWhole(tx: Tx, { kind, projectId }: ErasureTarget, part: Progress): Promise<void> {
  const wholes = [
    ...(kind === 'thread' && part.agentId !== null ? [{ kind: 'agent' as const, targetId: part.agentId }] : []),
    ...(kind === 'project' || kind === 'messages' ? [] : [{ kind: 'project' as const, targetId: projectId }]),
  ]
  for (const whole of wholes) {
    const record = await lockRecord(tx, whole)
    if (record === null || record.finishedAtMs !== null) continue
    await writeRemoved(tx, whole, added(record.removed, part.removed))
    return
  }
}

function added(counts: Record<string, number>, more: Removed): Record<string, number> {
  const sums = { ...counts }
  for (const [name, count = 0] of Object.entries(more)) if (count > 0) sums[name] = (sums[name] ?? 0) + count
  return sums
}

/** Erasures of all projects that began before a time and are not finished, oldest first. */
export async function findUnfinishedErasures(
  store: Store,
  { limit, begunBeforeMs }: { limit: number; begunBeforeMs: number },
): Promise<ErasureTarget[]> {
  return await inEachDatabase(
    store,
    async (tx) =>
      await tx<ErasureTarget[]>`
      select project_id, target_id, kind
      from heddle.unfinished_erasures(${limit}::integer, ${begunBeforeMs}::timestamptz)`,
  )
}
