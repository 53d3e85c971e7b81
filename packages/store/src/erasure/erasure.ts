import type { Tx } from '../connection/connection.js'
import { takeErasureLock } from '../messages/tombstones.js'
import type { Columns } from '../schema/rows.js'
import type { Store } from '../store.js'
import type { Removed } from './erasure-step.js'
import { takersOf } from './erasure-takers.js'

export type ErasureTarget = Columns<'tombstones', 'projectId' | 'kind' | 'targetId'>

export interface Erasure extends Columns<'tombstones', 'finishedAtMs' | 'removed'> {
  readonly begunAtMs: number
}

/**
 * Puts the tombstone of a thread, an agent or a project. From the commit on it is invisible, what is sent to it is refused,
 * and {@link continueErasure} can remove it; what is under way waits for nothing longer than a request.
 *
 * @param evenIfMissing for what only jobs know of yet
 * @param reuse the name is to be free once nothing is left; also of something that was erased before. Default false
 * @returns false where there is nothing of that name and never was; true also where it was erased before
 */
export async function beginErasure(
  tx: Tx,
  { kind, targetId }: Pick<ErasureTarget, 'kind' | 'targetId'>,
  { evenIfMissing = false, reuse = false }: { evenIfMissing?: boolean; reuse?: boolean } = {},
): Promise<boolean> {
  // Statements of their own: what looks must look after the lock was given.
  await takeErasureLock(tx)
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

/** The latest erasure of something, also where its name is free again. @returns null where none was begun */
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
 * Removes everything of what {@link beginErasure} marked, in small transactions that hold nobody up. It may be stopped at any
 * point and go on anywhere, also in several processes at once; when it is done it does nothing.
 *
 * @throws the signal's reason, between two steps
 */
export async function continueErasure(store: Store, target: ErasureTarget, signal?: AbortSignal): Promise<void> {
  const { projectId } = target
  while (target.kind !== 'thread') {
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
 * Frees the name of what was erased, where that is wished: the tombstone is kept under another id, so that it refuses nothing
 * more. A thread that takes the name counts on from the head of the erased one, and refuses its messages: see `freed_id`.
 *
 * Under the project's erasure lock: whoever makes a thread sees either the tombstone, or that the name is free.
 */
async function freeName(tx: Tx, target: ErasureTarget): Promise<void> {
  const { kind, targetId } = target
  if (kind === 'project') return
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
  if (record.finishedAtMs === null) await tellWhole(tx, target, record)
}

/** The threads of an agent that are still there. */
export async function loadThreadIdsOf(tx: Tx, { agentId }: { agentId: string }): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`select id from heddle.threads where agent_id = ${agentId}`
  return rows.map(({ id }) => id)
}

/** A thread of an agent or an agent of a project, with a tombstone of its own; null where none is left. */
async function nextPart(
  tx: Tx,
  { kind, targetId }: ErasureTarget,
): Promise<Pick<ErasureTarget, 'kind' | 'targetId'> | null> {
  // What is there before what was begun: of a part whose row another process takes away in between, the tombstone is seen.
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
  const part = { kind: kind === 'agent' ? ('thread' as const) : ('agent' as const), targetId: next.id }
  await beginErasure(tx, part)
  return part
}

type Progress = Columns<'tombstones', 'agentId' | 'finishedAtMs' | 'removed' | 'reuse'>

/**
 * One step: the first kind of rows of which there are any left loses some of them. The tombstone's row is held, so that of
 * several processes one at a time takes a step, and what was removed is written down with the removal itself.
 *
 * @returns whether nothing is left
 */
async function eraseSome(tx: Tx, target: ErasureTarget): Promise<boolean> {
  const { kind, targetId } = target
  const record = await lockRecord(tx, target)
  if (record === null || record.finishedAtMs !== null) return true
  for (const take of takersOf(kind)) {
    const taken = await take(tx, { ...target, agentId: record.agentId })
    if (Object.values(taken).every((count = 0) => count === 0)) continue
    await writeRemoved(tx, target, added(record.removed, taken))
    return false
  }
  // It is finished when its name is free: see freeName.
  if (record.reuse) return true
  await tx`update heddle.tombstones set finished_at = now() where target_id = ${targetId} and kind = ${kind}`
  await tellWhole(tx, target, record)
  return true
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

/** What was removed of a part counts as removed of the whole that is being erased. */
async function tellWhole(tx: Tx, { kind, projectId }: ErasureTarget, part: Progress): Promise<void> {
  const wholes = [
    ...(kind === 'thread' && part.agentId !== null ? [{ kind: 'agent' as const, targetId: part.agentId }] : []),
    ...(kind === 'project' ? [] : [{ kind: 'project' as const, targetId: projectId }]),
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
  return await store.asReconciler(
    async (tx) =>
      await tx<ErasureTarget[]>`
      select project_id, target_id, kind
      from heddle.unfinished_erasures(${limit}::integer, ${begunBeforeMs}::timestamptz)`,
  )
}
