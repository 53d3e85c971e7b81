import { ConflictError, PermanentError, RetryableError } from '@heddle/contracts'
import { readMigrations } from '../../backup/backup-tables.js'
import type { Tx } from '../../connection/connection.js'
import { applyChanges, forgetChanges } from './catch-up.js'
import { noteChanges, PLACE_LOCK_SPACE, stopNoting } from './changes.js'
import { copyProject } from './copy-rows.js'
import type { AdminAddresses, MoveConnections } from './move-connections.js'
import { numbersTaken, underWay } from './move-errors.js'
import type { MoveServer } from './move-server.js'
import { type MovedTable, readMovedTables } from './moved-tables.js'
import { loadMove, type Move, type MoveFigures, type MoveState, saveMove } from './moves.js'
import { reserveNumbers } from './number-ranges.js'
import { loadPlace, settle, withdraw } from './places.js'
import { removeRows } from './remove-rows.js'
import { isBusy, retried } from './retried.js'
import { HeldTooLong, switchProject } from './switch-project.js'
import { compareSums, sumTables } from './verify.js'

export interface MoveOptions {
  readonly projectId: string
  /** Its name, for messages. */
  readonly project: string
  readonly to: string
  readonly databases: AdminAddresses
  /** Also place a project that does not exist yet. Default false. */
  readonly isNew?: boolean
  /** Called when the move enters a state, before its work. */
  readonly onState?: (move: Move) => void | Promise<void>
  readonly onTable?: (table: string, rows: number) => void
}

/** With so few changes in so short a round, those of the switch fit into the time for which writers may be held back. */
const CHANGES_FEW = 500
const ROUND_MS_FEW = 200
/** Rounds of one state. A project that changes faster than this reads it cannot be moved. */
const ROUNDS_MAX = 500
/** Attempts to switch: together with their pauses longer than the longest transaction. */
const TRIES_MAX = 400
const PAUSE_MS = 300
/** Transactions that begin meanwhile wait behind the lock of an abandonment. */
const LOCK_MS = 250

export async function holds(server: MoveServer, projectId: string): Promise<boolean> {
  const rows = await server.run((sql) => sql`select from heddle.projects where project_id = ${projectId}`)
  return rows.length > 0
}

/** A move whose lock this process has. */
export class ProjectMove {
  #move: Move
  readonly #directory: MoveServer
  readonly #from: MoveServer
  readonly #to: MoveServer
  readonly #options: Omit<MoveOptions, 'to' | 'isNew'>

  constructor(connections: MoveConnections, move: Move, options: Omit<MoveOptions, 'to' | 'isNew'>) {
    this.#move = move
    this.#options = options
    this.#directory = connections.directory
    this.#from = connections.of(move.from)
    this.#to = connections.of(move.to)
  }

  async run(): Promise<Move> {
    // Another process may have gone on with it before this one had the lock.
    await this.#reload()
    if (this.#move.state === 'abandoned' || this.#move.state === 'abandoning')
      throw underWay(this.#options.project, this.#move)
    const tables = await this.#readTables()
    while (this.#move.state !== 'done') {
      await this.#options.onState?.(this.#move)
      await this.#goOn(tables)
    }
    await this.#options.onState?.(this.#move)
    return this.#move
  }

  async abandon(): Promise<Move> {
    await this.#reload()
    if (this.#move.state === 'abandoned') return this.#move
    if (this.#move.state === 'done' || this.#move.state === 'removing') throw this.#switchedAlready()
    await this.#beforeSwitch(() => this.#enter('abandoning', {}))
    await this.#options.onState?.(this.#move)
    await stopNoting(this.#from)
    await this.#beforeSwitch(() => this.#to.run((sql) => withdraw(sql, this.#move.projectId)))
    const removed = await this.#remove(this.#to, await this.#readTables())
    await this.#enter('abandoned', { removed })
    return this.#move
  }

  /** The lock waits for a commit of the switch whose process was killed: only then is it certain that there is no switch. */
  async #beforeSwitch(work: () => Promise<void>): Promise<void> {
    await retried(() =>
      this.#from.begin(async (former) => {
        await former.unsafe(`set local lock_timeout = ${LOCK_MS}`)
        await former`select pg_advisory_xact_lock(${PLACE_LOCK_SPACE}::integer, hashtext(${this.#move.projectId}))`
        if (await this.#hasSwitched(former)) throw this.#switchedAlready()
        await work()
      }),
    )
  }

  #switchedAlready(): ConflictError {
    return new ConflictError(`the project is in ${this.#move.to} already`, {
      field: 'abandon',
      received: this.#move.state,
      hint: 'Run the move again to finish it; then move the project back.',
    })
  }

  async #reload(): Promise<void> {
    this.#move = (await this.#directory.run((sql) => loadMove(sql, this.#move.projectId))) ?? this.#move
  }

  async #readTables(): Promise<MovedTable[]> {
    const [here, there] = await this.#onBoth((from, to) => Promise.all([readMigrations(from), readMigrations(to)]))
    if (JSON.stringify([...here].sort()) !== JSON.stringify([...there].sort())) {
      throw new PermanentError('VALIDATION_ERROR', `to: ${this.#move.to} has tables of another version`, {
        field: 'to',
        received: `${there.length} migrations, ${this.#move.from} has ${here.length}`,
        hint: 'Run heddle migrate with HEDDLE_DATABASES, which migrates all of them.',
      })
    }
    return await this.#onBoth(readMovedTables)
  }

  async #goOn(tables: readonly MovedTable[]): Promise<void> {
    switch (this.#move.state) {
      case 'copying':
        return await this.#enter('catching-up', await this.#copy(tables))
      case 'catching-up':
        return await this.#enter('verifying', await this.#catchUp(tables))
      case 'verifying':
        return await this.#enter('switching', await this.#verify(tables))
      case 'switching':
        return await this.#enter('removing', await this.#switch(tables))
      default: {
        await this.#to.run((to) => this.#directory.run((directory) => settle(to, directory, this.#move)))
        const removed = await this.#remove(this.#from, tables)
        await stopNoting(this.#from)
        return await this.#enter('done', { removed })
      }
    }
  }

  async #enter(state: MoveState, figures: MoveFigures): Promise<void> {
    this.#move = { ...this.#move, state, figures: { ...this.#move.figures, ...figures } }
    await this.#directory.run((sql) => saveMove(sql, this.#move))
  }

  /** One snapshot and one transaction: the copy is there as a whole, or nothing of it. */
  async #copy(tables: readonly MovedTable[]): Promise<MoveFigures> {
    const { projectId, from, to } = this.#move
    // It was committed, and the process ended before it could say so. Changes have been noted since it began.
    if (await holds(this.#to, projectId)) return {}
    await reserveNumbers(this.#directory, from, this.#from)
    await reserveNumbers(this.#directory, to, this.#to)
    await noteChanges(this.#from, tables, projectId)
    let rows = 0
    const onTable = (table: string, count: number) => {
      rows += count
      this.#options.onTable?.(table, count)
    }
    await this.#from
      .inSnapshot((source) => this.#to.asMove((copy) => copyProject(source, copy, { tables, projectId, onTable })))
      .catch((error: unknown) => {
        throw isTaken(error) ? numbersTaken(to, error) : error
      })
    return { rows }
  }

  async #catchUp(tables: readonly MovedTable[]): Promise<MoveFigures> {
    let { changes = 0, rounds = 0 } = this.#move.figures
    for (let [round, beforeMs] = [1, Number.POSITIVE_INFINITY]; round <= ROUNDS_MAX; round++) {
      const startedMs = performance.now()
      const applied = await this.#round(tables)
      const tookMs = performance.now() - startedMs
      changes += applied
      rounds++
      // On a busy machine a round takes its time however few changes it has: then an attempt to switch decides.
      if (applied <= CHANGES_FEW && (tookMs <= ROUND_MS_FEW || tookMs > beforeMs / 2)) return { changes, rounds }
      beforeMs = tookMs
    }
    throw new RetryableError('TIMEOUT', `the project still changes faster than its copy after ${ROUNDS_MAX} rounds`, {
      hint: 'Run the move again at a quieter time: it goes on from here.',
    })
  }

  /** Applies the changes up to a moment, and compares all rows of that moment. */
  async #verify(tables: readonly MovedTable[]): Promise<MoveFigures> {
    const { projectId } = this.#move
    const of = { tables, projectId }
    // The new server knows nothing yet of the rows that were copied, and would plan the first queries for empty tables.
    await this.#to.run((sql) => sql.unsafe(`analyze ${tables.map(({ table }) => `heddle."${table}"`).join(', ')}`))
    let sums = { rows: 0, notes: [] as number[] }
    await this.#withoutSwitch(async (source) => {
      const notes = await this.#to.asMove((copy) => applyChanges(source, copy, of))
      const [there, copied] = await Promise.all([
        sumTables(source, of),
        this.#to.inSnapshot((copy) => sumTables(copy, of)),
      ])
      compareSums(there, copied)
      sums = { rows: there.reduce((sum, { rows }) => sum + rows, 0), notes }
    })
    await this.#from.run((sql) => forgetChanges(sql, sums.notes))
    const more = await this.#catchUp(tables)
    return {
      ...more,
      changes: (more.changes ?? 0) + sums.notes.length,
      verified: sums.rows,
      rounds: (more.rounds ?? 0) + 1,
    }
  }

  async #switch(tables: readonly MovedTable[]): Promise<MoveFigures> {
    let { changes = 0, tries = 0 } = this.#move.figures
    // It was committed, and the process ended before it could say so.
    if (await this.#hasSwitched()) return {}
    for (;;) {
      tries++
      try {
        const done = await switchProject(this.#from, this.#to, this.#move, tables)
        return { tries, heldMs: done.heldMs, changes: changes + done.changes }
      } catch (error) {
        if (await this.#hasSwitched()) return { tries, changes }
        if (tries >= TRIES_MAX || !isAnotherTryWorthIt(error)) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      try {
        changes += await this.#round(tables)
      } catch (error) {
        if (await this.#hasSwitched()) return { tries, changes }
        throw error
      }
    }
  }

  async #hasSwitched(former?: Tx): Promise<boolean> {
    const load = (sql: Tx) => loadPlace(sql, this.#move.projectId)
    const place = await (former === undefined ? this.#from.run(load) : load(former))
    return place !== null && !place.isHere && place.version >= this.#move.version
  }

  async #round(tables: readonly MovedTable[]): Promise<number> {
    const { projectId } = this.#move
    const notes = await this.#withoutSwitch((source) =>
      this.#to.asMove((copy) => applyChanges(source, copy, { tables, projectId })),
    )
    await this.#from.run((sql) => forgetChanges(sql, notes))
    return notes.length
  }

  /** Reads a snapshot that began under the lock of the place: a switch waits until the copy is written, or is seen here. */
  async #withoutSwitch<T>(work: (source: Tx) => Promise<T>): Promise<T> {
    return await this.#from.begin(async (fence) => {
      await fence`select pg_advisory_xact_lock_shared(${PLACE_LOCK_SPACE}::integer, hashtext(${this.#move.projectId}))`
      if (await this.#hasSwitched(fence)) throw this.#switchedAlready()
      return await this.#from.inSnapshot(work)
    })
  }

  async #onBoth<T>(work: (from: Tx, to: Tx) => Promise<T>): Promise<T> {
    return await this.#from.run((from) => this.#to.run((to) => work(from, to)))
  }

  async #remove(server: MoveServer, tables: readonly MovedTable[]): Promise<number> {
    const removed = await removeRows(server, { tables, projectId: this.#move.projectId })
    return removed + (this.#move.figures.removed ?? 0)
  }
}

/** Statements of an attempt have a time limit, and so has its connection. */
function isAnotherTryWorthIt(error: unknown): boolean {
  if (error instanceof HeldTooLong || isBusy(error)) return true
  return error instanceof Error && 'code' in error && ['57014', '25P03', '40001', '40P01'].includes(String(error.code))
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505'
}
