import { DEFAULT_DATABASE } from '@heddle/runtime'
import type { Tx } from '../../connection/connection.js'
import type { PlaceRow } from '../place.js'

/** Where a project is by one database, without waiting for a move. */
export async function loadPlace(sql: Tx, projectId: string): Promise<PlaceRow | null> {
  const [row] = await sql<PlaceRow[]>`
    select database, version, is_here as "isHere", arriving
    from heddle_placement.placement where project_id = ${projectId}`
  return row ?? null
}

interface Arrival {
  readonly projectId: string
  readonly from: string
  readonly to: string
  readonly version: number
}

/** Lets transactions in that the former database sends here with this version, which it does once it has switched. */
export async function announce(to: Tx, { projectId, from, version }: Arrival): Promise<void> {
  await to`
    insert into heddle_placement.placement as place (project_id, database, version, is_here, arriving)
    values (${projectId}, ${from}, ${version - 1}, false, ${version})
    on conflict (project_id) do update set arriving = excluded.arriving, changed_at = now()`
}

export async function withdraw(to: Tx, projectId: string): Promise<void> {
  await to`
    update heddle_placement.placement set arriving = null, changed_at = now() where project_id = ${projectId}`
}

/** The switch: from the commit of this row on, the project is in the other database. */
export async function sendAway(from: Tx, { projectId, to, version }: Arrival): Promise<void> {
  await from`
    insert into heddle_placement.placement (project_id, database, version, is_here)
    values (${projectId}, ${to}, ${version}, false)
    on conflict (project_id) do update
    set database = excluded.database, version = excluded.version, is_here = false, arriving = null, changed_at = now()`
}

/** After the switch: the new database knows that the project is there, and the directory says so. */
export async function settle(to: Tx, directory: Tx, arrival: Arrival): Promise<void> {
  const { projectId, version } = arrival
  await to`
    update heddle_placement.placement
    set database = ${arrival.to}, version = ${version}, is_here = true, arriving = null, changed_at = now()
    where project_id = ${projectId} and version < ${version}`
  if (arrival.to === DEFAULT_DATABASE) return
  await directory`
    insert into heddle_placement.placement as place (project_id, database, version, is_here)
    values (${projectId}, ${arrival.to}, ${version}, false)
    on conflict (project_id) do update
    set database = excluded.database, version = excluded.version, changed_at = now()
    where place.version < excluded.version and not place.is_here`
}
