import type { Tx } from '../../connection/connection.js'
import type { MoveServer } from './move-server.js'

export const moveStates = [
  'copying',
  'catching-up',
  'verifying',
  'switching',
  'removing',
  'done',
  'abandoning',
  'abandoned',
] as const
export type MoveState = (typeof moveStates)[number]

/** The figures of a move so far. */
export interface MoveFigures {
  /** Rows that were copied. */
  readonly rows?: number
  /** Changes that were applied to the copy, with those of the switch. */
  readonly changes?: number
  readonly rounds?: number
  /** Rows that were compared, with hashes of their values, in both databases. */
  readonly verified?: number
  /** Attempts to switch: one that waits too long is repeated. */
  readonly tries?: number
  /** How long the switch held writers back, in milliseconds, in the attempt that succeeded. */
  readonly heldMs?: number
  /** Former rows, or those of an abandoned copy, that were deleted. */
  readonly removed?: number
}

/** The last move of a project, as the default database has it. */
export interface Move {
  readonly projectId: string
  readonly from: string
  readonly to: string
  readonly state: MoveState
  /** The number of this move among those of the project. */
  readonly version: number
  readonly figures: MoveFigures
}

export async function loadMove(directory: Tx, projectId: string): Promise<Move | null> {
  const [row] = await directory<Move[]>`
    select project_id as "projectId", from_database as from, to_database as to, state, version, details as figures
    from heddle_placement.moves where project_id = ${projectId}`
  return row ?? null
}

/**
 * Begins a move, unless the project or its database has one that is not finished: the triggers of a database are of one project.
 *
 * @returns the new move; otherwise the project of the unfinished one
 */
export async function insertMove(
  directory: MoveServer,
  move: Omit<Move, 'state' | 'figures'>,
): Promise<Move | { readonly unfinished: string }> {
  const { projectId, from, to, version } = move
  return await directory.begin(async (tx) => {
    await tx`lock table heddle_placement.moves in share row exclusive mode`
    const [other] = await tx<{ id: string }[]>`
      select project_id as id from heddle_placement.moves
      where state not in ('done', 'abandoned') and (from_database = ${from} or project_id = ${projectId})
      order by project_id = ${projectId} desc`
    if (other !== undefined) return { unfinished: other.id }
    await tx`
      insert into heddle_placement.moves (project_id, from_database, to_database, state, version)
      values (${projectId}, ${from}, ${to}, 'copying', ${version})
      on conflict (project_id) do update
      set from_database = excluded.from_database, to_database = excluded.to_database, state = excluded.state,
        version = excluded.version, details = '{}', started_at = now(), changed_at = now()`
    return { ...move, state: 'copying', figures: {} }
  })
}

export async function saveMove(directory: Tx, { projectId, state, figures }: Move): Promise<void> {
  await directory`
    update heddle_placement.moves set state = ${state}, details = ${JSON.stringify(figures)}::text::json, changed_at = now()
    where project_id = ${projectId}`
}
