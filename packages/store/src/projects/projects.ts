import type { Tx } from '../connection/connection.js'
import { erasedError } from '../messages/append-plan.js'
import { findTombstones, shareErasureLock } from '../messages/tombstones.js'

/**
 * Creates a project unless it exists. A project whose first message came before its name has its id as its name until then.
 *
 * @param name the name from which `projectId` was derived
 * @throws ConflictError if the project was erased
 */
export async function ensureProject(tx: Tx, { projectId, name }: { projectId: string; name: string }): Promise<void> {
  const [, [tombstone]] = await Promise.all([
    shareErasureLock(tx),
    findTombstones(tx, [projectId]),
    // No conflict target: another transaction may store the same project at this moment, and either unique index may find it.
    tx`insert into heddle.projects (project_id, name) values (${projectId}, ${name}) on conflict do nothing`,
    tx`
      update heddle.projects set name = ${name}
      where project_id = ${projectId} and name = project_id::text and name <> ${name}`,
  ])
  // The error rolls the insert back.
  if (tombstone !== undefined) throw erasedError('project', name)
}
