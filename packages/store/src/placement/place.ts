import { DEFAULT_DATABASE } from '@heddle/runtime'
import type { Tx } from '../connection/connection.js'

/** The place of a project, as far as a database knows it. */
export interface PlaceRow {
  readonly database: string
  readonly version: number
  readonly isHere: boolean
  readonly arriving: number | null
}

/**
 * @param waits whether the transaction keeps the project in this database until it ends: for work that writes, or whose statements
 *   see different moments
 * @returns null if the project was never moved from here or to here
 */
export async function placeIn(tx: Tx, projectId: string, { waits }: { waits: boolean }): Promise<PlaceRow | null> {
  const [row] = await tx<PlaceRow[]>`
    select database, version, is_here, arriving from heddle_placement.enter(${projectId}, ${waits})`
  return row ?? null
}

/** A database, and the number of moves after which a project is there. */
export interface Route {
  readonly database: string
  readonly version: number
}

export function isHere(route: Route, place: PlaceRow | null): boolean {
  if (place === null) return route.database === DEFAULT_DATABASE
  // The former database says with this version that the project is here; its new one learns it a moment later.
  return place.isHere || (place.arriving !== null && place.arriving === route.version)
}
