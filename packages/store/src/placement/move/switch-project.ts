import { ConflictError } from '@heddle/contracts'
import type { Tx } from '../../connection/connection.js'
import { applyChanges, forgetChanges } from './catch-up.js'
import { PLACE_LOCK_SPACE } from './changes.js'
import type { MoveServer } from './move-server.js'
import type { MovedTable } from './moved-tables.js'
import type { Move } from './moves.js'
import { announce, loadPlace, sendAway } from './places.js'

/** How long an attempt waits for the transactions of the project that have begun. Those that begin meanwhile wait behind it. */
const LOCK_MS = 250
/** An attempt that has taken longer is given up: with its last statements, nobody is held back for a second. */
const HELD_MS_MAX = 600
/** The server ends the attempt of a process that is cut off. One that is killed ends at once, with its connection. */
const SILENT_MS_MAX = 3_000

/** The attempt took too long; the next one has fewer changes to apply. */
export class HeldTooLong extends Error {}

/**
 * Switches a project to its copy: waits until its transactions have ended, applies what they have changed, and says in the former
 * database that it is in the other one. The commit of that row is the switch. A failure before it leaves the project where it is,
 * and transactions that waited go on there.
 *
 * @returns how long transactions were held back, in milliseconds, and how many changes were applied
 * @throws HeldTooLong, or the error of a lock that was not granted in time, if another attempt may succeed
 */
export async function switchProject(
  from: MoveServer,
  to: MoveServer,
  move: Move,
  tables: readonly MovedTable[],
): Promise<{ heldMs: number; changes: number }> {
  const { projectId } = move
  let startedMs = performance.now()
  const heldMs = () => Math.round(performance.now() - startedMs)
  const changes = await from.begin(async (former) => {
    await former.unsafe(`
      set local lock_timeout = ${LOCK_MS};
      set local synchronous_commit = on;
      set local statement_timeout = ${HELD_MS_MAX};
      set local idle_in_transaction_session_timeout = ${SILENT_MS_MAX}`)
    startedMs = performance.now()
    await former`select pg_advisory_xact_lock(${PLACE_LOCK_SPACE}::integer, hashtext(${projectId}))`
    await requireMayLeave(former, move)
    const applied = await to.asMove(async (copy) => {
      await copy.unsafe(`set local statement_timeout = ${HELD_MS_MAX}; set local synchronous_commit = on`)
      const notes = await applyChanges(former, copy, { tables, projectId })
      await announce(copy, move)
      return notes
    })
    if (heldMs() > HELD_MS_MAX) throw new HeldTooLong(`transactions were held back for ${heldMs()} ms`)
    await forgetChanges(former, applied)
    await sendAway(former, move)
    return applied.length
  })
  return { heldMs: heldMs(), changes }
}

/** The triggers that note changes are removed before the copy of an abandoned move. */
async function requireMayLeave(former: Tx, { projectId, version }: Move): Promise<void> {
  const place = await loadPlace(former, projectId)
  const triggers = await former`select from pg_trigger where tgname = 'heddle_move' limit 1`
  if (triggers.length === 0 || (place !== null && !place.isHere && place.version >= version)) {
    throw new ConflictError('the project has left its former database already, or its move was abandoned', {
      hint: 'Run heddle projects list to see where it is.',
    })
  }
}
