import { RetryableError } from '@heddle/contracts'
import { NIL_ID } from '@heddle/core'
import { DEFAULT_DATABASE } from '@heddle/runtime'
import { LRUCache } from 'lru-cache'
import type { Tx } from '../connection/connection.js'
import type { Pool } from '../connection/pool.js'
import { type TransactionOptions, transact } from '../connection/transaction.js'
import { isHere, type PlaceRow, placeIn, type Route } from './place.js'

/** A project without moves, and one of which this process knows nothing yet: its row there says where it went. */
const FIRST: Route = { database: DEFAULT_DATABASE, version: 0 }

/** Projects whose database a process remembers. */
const ROUTES_MAX = 100_000
/** How long a transaction searches for its project, beyond the time that a move holds it back. */
const SEARCH_MS_MAX = 10_000
const SEARCH_EVERY_MS = 20

/** The project is in another database. Its work has not begun. */
class NotHere extends Error {
  constructor(readonly place: PlaceRow | null) {
    super('the project is in another database')
  }
}

/**
 * Runs transactions in the database of their project.
 *
 * Invariant: the database decides. Each transaction reads there whether its project is there, under a lock that a move has to
 * itself while it switches; so a process that remembers a former database is refused before its work begins, and follows the row
 * that refused it.
 */
export class ProjectsInDatabases {
  readonly #pools: ReadonlyMap<string, Pool>
  readonly #routes = new LRUCache<string, Route>({ max: ROUTES_MAX })

  /** @param pools by the names of their databases, with that of the default one */
  constructor(pools: ReadonlyMap<string, Pool>) {
    this.#pools = pools
  }

  /** @throws RetryableError `SERVICE_UNAVAILABLE` if the project is not found in time, or in a database that is not configured */
  async inProject<T>(projectId: string, work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T> {
    // Leases and dead letters that belong to no project.
    if (projectId === NIL_ID) return await transact(this.#poolOf(DEFAULT_DATABASE), projectId, work, options)
    const endsAtMs = performance.now() + SEARCH_MS_MAX
    for (let route = this.#routes.get(projectId) ?? FIRST; ; ) {
      try {
        return await this.#enter(route, projectId, work, options)
      } catch (error) {
        if (!(error instanceof NotHere)) throw error
        const next = nextRoute(route, error.place)
        if (next === null) {
          if (performance.now() > endsAtMs) throw notFoundInTime()
          await new Promise((resolve) => setTimeout(resolve, SEARCH_EVERY_MS))
        }
        route = next ?? FIRST
        this.#routes.set(projectId, route)
      }
    }
  }

  async #enter<T>(
    route: Route,
    projectId: string,
    work: (tx: Tx) => Promise<T>,
    options: TransactionOptions | undefined,
  ): Promise<T> {
    return await transact(this.#poolOf(route.database), projectId, work, options, async (tx, isSnapshot) => {
      const place = await placeIn(tx, projectId, { waits: !isSnapshot })
      if (!isHere(route, place)) throw new NotHere(place)
    })
  }

  #poolOf(database: string): Pool {
    const pool = this.#pools.get(database)
    if (pool !== undefined) return pool
    throw new RetryableError('SERVICE_UNAVAILABLE', `the database ${database} is not configured`, {
      field: 'HEDDLE_DATABASES',
      received: [...this.#pools.keys()].join(', '),
      hint: 'Give all processes the same HEDDLE_DATABASES.',
    })
  }
}

/** @returns null if the row knows no later place: the search begins again at the default database */
function nextRoute({ version }: Route, place: PlaceRow | null): Route | null {
  return place === null || place.version <= version ? null : { database: place.database, version: place.version }
}

function notFoundInTime(): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', 'the database of the project was not found: it is being moved', {
    hint: 'Try again; `heddle projects list` shows the move.',
  })
}
