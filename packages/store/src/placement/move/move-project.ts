import { notFound } from '@heddle/contracts'
import { DEFAULT_DATABASE } from '@heddle/runtime'
import { asOnlyMove, type MoveConnections, withConnections } from './move-connections.js'
import { alreadyThere, anotherUnderWay, underWay } from './move-errors.js'
import { insertMove, loadMove, type Move } from './moves.js'
import { loadPlace } from './places.js'
import { holds, type MoveOptions, ProjectMove } from './project-move.js'

/**
 * Moves a project to another database while it is read and written, or finishes a move that was interrupted: its state is stored
 * with each step, and every step may be repeated. Until the switch the project is where it was.
 *
 * @throws ConflictError if the other database holds the project, or a move of it or from its database is under way;
 *   PermanentError `NOT_FOUND` without the project, `FORBIDDEN` for a login that does not see all rows
 */
export async function moveProject(options: MoveOptions): Promise<Move> {
  return await withConnections(options.databases, async (connections) => {
    connections.of(options.to)
    const move = await findOrBegin(connections, options)
    if (move.state === 'done') return move
    const work = () => new ProjectMove(connections, move, options).run()
    return await asOnlyMove(connections.of(move.from), move.from, work)
  })
}

/**
 * Ends a move that has not switched, and removes its copy.
 *
 * @throws ConflictError if it has switched; PermanentError `NOT_FOUND` without a move
 */
export async function abandonMove(options: Omit<MoveOptions, 'to' | 'isNew'>): Promise<Move> {
  return await withConnections(options.databases, async (connections) => {
    const move = await connections.directory.run((sql) => loadMove(sql, options.projectId))
    if (move === null) throw notFound('move', options.project, 'see `heddle projects list`')
    if (move.state === 'abandoned') return move
    const work = () => new ProjectMove(connections, move, options).abandon()
    return await asOnlyMove(connections.of(move.from), move.from, work)
  })
}

async function findOrBegin(connections: MoveConnections, options: MoveOptions): Promise<Move> {
  const { projectId, project, to, isNew = false } = options
  const { directory } = connections
  const [last, place] = await directory.run(async (sql) => [
    await loadMove(sql, projectId),
    await loadPlace(sql, projectId),
  ])
  if (last !== null && last.state !== 'done' && last.state !== 'abandoned') {
    if (last.to === to && last.state !== 'abandoning') return last
    throw underWay(project, last)
  }
  const [from, version] = [place?.database ?? DEFAULT_DATABASE, place?.version ?? 0]
  if (from === to) return { projectId, from, to, state: 'done', version, figures: last?.figures ?? {} }
  if (!isNew && !(await holds(connections.of(from), projectId)))
    throw notFound('project', project, 'give --new to place a project that will be created')
  if (await holds(connections.of(to), projectId)) throw alreadyThere(project, to)
  const begun = await insertMove(directory, { projectId, from, to, version: version + 1 })
  if (!('unfinished' in begun)) return begun
  if (begun.unfinished !== projectId) throw anotherUnderWay(from, begun.unfinished)
  // Another process has begun it just now.
  return await findOrBegin(connections, options)
}
