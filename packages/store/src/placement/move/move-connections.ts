import { ConflictError, validationError } from '@heddle/contracts'
import { DEFAULT_DATABASE } from '@heddle/runtime'
import { requireAllRows } from '../../backup/backup-tables.js'
import { fromPostgres } from '../../connection/postgres-errors.js'
import { MoveServer } from './move-server.js'

/** The addresses of the owners of databases, by name, with the default one. */
export type AdminAddresses = Readonly<Record<string, string>>

/** The servers of a move or a list, by the names of their databases. */
export class MoveConnections {
  readonly #addresses: AdminAddresses
  readonly #opened = new Map<string, MoveServer>()

  constructor(addresses: AdminAddresses) {
    this.#addresses = addresses
  }

  get names(): readonly string[] {
    return Object.keys(this.#addresses)
  }

  /** The default database, which has the directory and the states of moves. */
  get directory(): MoveServer {
    return this.of(DEFAULT_DATABASE)
  }

  /** @throws PermanentError `VALIDATION_ERROR` for a name that is not configured */
  of(name: string): MoveServer {
    const opened = this.#opened.get(name)
    if (opened !== undefined) return opened
    const url = this.#addresses[name]
    if (url === undefined) throw validationError('to', `must be one of ${this.names.join(', ')}`, name)
    const server = new MoveServer(url)
    this.#opened.set(name, server)
    return server
  }

  close(): void {
    for (const server of this.#opened.values()) server.close()
  }
}

/** @throws HeddleError in place of the errors of the driver */
export async function withConnections<T>(
  addresses: AdminAddresses,
  work: (connections: MoveConnections) => Promise<T>,
): Promise<T> {
  const connections = new MoveConnections(addresses)
  try {
    return await work(connections)
  } catch (error) {
    throw fromPostgres(error)
  } finally {
    connections.close()
  }
}

/** An arbitrary number that nothing else in the database uses. */
const LOCK_KEY = 4_680_046_802

/**
 * Runs work that nothing else of its kind runs beside in the database that a project leaves. The lock ends with its connection, so
 * that of a killed process is free.
 *
 * @throws ConflictError if another process moves a project from there
 */
export async function asOnlyMove<T>(server: MoveServer, database: string, work: () => Promise<T>): Promise<T> {
  return await server.run(async (sql) => {
    await requireAllRows(sql)
    const [lock] = await sql<{ taken: boolean }[]>`select pg_try_advisory_lock(${LOCK_KEY}::bigint) as taken`
    if (lock?.taken !== true) {
      throw new ConflictError(`another process moves a project from ${database}`, {
        field: 'database',
        received: database,
        hint: 'Wait for it: `heddle projects list` shows its state. One project at a time leaves a database.',
      })
    }
    try {
      return await work()
    } finally {
      await sql`select pg_advisory_unlock(${LOCK_KEY}::bigint)`.catch(() => undefined)
    }
  })
}
