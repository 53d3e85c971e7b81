import { DEFAULT_DATABASE } from '@heddle/runtime'
import type { Tx } from '../../connection/connection.js'
import { type AdminAddresses, withConnections } from './move-connections.js'
import type { Move, MoveFigures, MoveState } from './moves.js'

/** A project, and the last move of it. */
export interface PlacedProject {
  readonly projectId: string
  /** Null for a project that is placed and not created yet. */
  readonly project: string | null
  readonly database: string
  readonly move: {
    readonly from: string
    readonly to: string
    readonly state: MoveState
    readonly changedAt: string
    readonly figures: MoveFigures
  } | null
}

interface NamedRow {
  readonly projectId: string
  readonly name: string
}

interface MoveRow extends Omit<Move, 'version'> {
  readonly changedAt: string
}

/**
 * The projects of all databases, by name, and those that are placed and do not exist yet.
 *
 * @throws RetryableError `SERVICE_UNAVAILABLE` if a database is down
 */
export async function listPlacements(databases: AdminAddresses): Promise<PlacedProject[]> {
  return await withConnections(databases, async (connections) => {
    const [moves, sent] = await connections.directory.run(async (sql) => [await listMoves(sql), await listSent(sql)])
    const lastMoves = new Map(moves.map(({ projectId, ...move }) => [projectId, move]))
    const placed = new Map<string, PlacedProject>()
    const add = (projectId: string, project: string | null, database: string) =>
      placed.set(projectId, { projectId, project, database, move: lastMoves.get(projectId) ?? null })
    for (const { projectId, database } of sent) add(projectId, null, database)
    for (const name of connections.names) {
      const projects = await connections.of(name).run((sql) => listProjects(sql, name))
      for (const { projectId, name: project } of projects) add(projectId, project, name)
    }
    return [...placed.values()].sort((one, other) => nameOf(one).localeCompare(nameOf(other)))
  })
}

async function listMoves(directory: Tx): Promise<MoveRow[]> {
  return await directory<MoveRow[]>`
    select project_id as "projectId", from_database as from, to_database as to, state, details as figures,
      to_char(changed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "changedAt"
    from heddle_placement.moves`
}

async function listSent(directory: Tx): Promise<{ projectId: string; database: string }[]> {
  return await directory<{ projectId: string; database: string }[]>`
    select project_id as "projectId", database from heddle_placement.placement where not is_here`
}

/** Without copies of projects that are elsewhere. */
async function listProjects(sql: Tx, database: string): Promise<NamedRow[]> {
  return await sql<NamedRow[]>`
    select project.project_id as "projectId", project.name from heddle.projects as project
    left join heddle_placement.placement as place on place.project_id = project.project_id
    where place.is_here or place.is_here is null and ${database === DEFAULT_DATABASE}::boolean`
}

function nameOf({ project, projectId }: PlacedProject): string {
  return project ?? projectId
}
