import { ConflictError } from '@heddle/contracts'
import { DEFAULT_DATABASE } from '@heddle/runtime'
import { isHere } from '../place.js'
import { type AdminAddresses, withConnections } from './move-connections.js'
import { loadPlace } from './places.js'

/** Longer than any chain of rows: the directory is at most one move behind. */
const HOPS_MAX = 8

/** The name of the database in which a project is. */
export async function findDatabase(databases: AdminAddresses, projectId: string): Promise<string> {
  return await withConnections(databases, async (connections) => {
    let [name, version] = [DEFAULT_DATABASE, 0]
    for (let hops = 0; hops < HOPS_MAX; hops++) {
      const place = await connections.of(name).run((sql) => loadPlace(sql, projectId))
      if (place === null || isHere({ database: name, version }, place) || place.database === name) break
      ;[name, version] = [place.database, place.version]
    }
    return name
  })
}

/**
 * Checks that a database holds no copy of a project that is elsewhere, for a reader of all its projects.
 *
 * @throws ConflictError if a move from or to it is under way
 */
export async function requireNoMoves(databases: AdminAddresses, name: string): Promise<void> {
  await withConnections(databases, async ({ directory }) => {
    const moves = await directory.run(
      (sql) => sql`
        select from heddle_placement.moves
        where state not in ('done', 'abandoned') and ${name} in (from_database, to_database)`,
    )
    if (moves.length === 0) return
    throw new ConflictError(`a move from or to the database ${name} is not finished`, {
      field: 'database',
      received: name,
      hint: 'Finish or abandon it first: `heddle projects list` shows it.',
    })
  })
}
