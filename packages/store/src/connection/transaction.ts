import { RetryableError } from '@heddle/contracts'
import { within } from '@heddle/runtime'
import type { Connections, Tx } from './connection.js'
import type { Connection, Pool, WantedConnection } from './pool.js'
import { connectionLost, endsConnection, fromPostgres } from './postgres-errors.js'

export interface TransactionOptions {
  /**
   * All statements see the database as it was at the first of them, for work that only reads and adds up what it read.
   * Default false: each statement sees what was committed before it began.
   */
  readonly snapshot?: boolean
  /**
   * The commit travels with the statements, which `work` must send all at once: nothing that one of them gives may decide
   * about another, or about the commit. One round trip instead of two. Default false.
   */
  readonly together?: boolean
  /**
   * Gets the next connection that comes free, whoever waits longer: for what takes a moment, and decides whether the others
   * are to wait at all. Default false.
   */
  readonly isFirst?: boolean
}

const STATEMENT_TIMEOUT_MS = 60_000
/** A worker that is frozen in the middle of a transaction must not hold its threads for longer. */
const IDLE_TIMEOUT_MS = 60_000
/** For a server that vanished without a word: no statement ends on its own then. Longer than any that a live one answers. */
const TRANSACTION_TIMEOUT_MS = 150_000
/** What statements after a failed one are refused with, until the transaction ends. */
const ABORTED = '25P02'

/**
 * Runs `work` in a transaction of one project, on a connection of the pool. The beginning of the transaction travels with
 * its first statement, and nobody waits for the end of one that only read.
 */
export async function transact<T>(
  pool: Pool,
  projectId: string,
  work: (tx: Tx) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const { isFirst = false } = options
  return await onConnection(pool, (sql, connection) => new Transaction(sql, connection).run(projectId, work, options), {
    owner: projectId,
    isFirst,
  })
}

const commits = new WeakMap<Tx, () => Promise<void>>()

/**
 * Sends the commit right behind the statements that the work has just made, instead of a round trip later. For the last
 * statements of a work, in the same `Promise.all`: if one of them fails, the server rolls back. A result of theirs cannot
 * undo the commit any more, so what must hold has to be a statement that fails.
 *
 * @throws RetryableError where the server rolled back
 */
export async function commitBehind(tx: Tx): Promise<void> {
  await commits.get(tx)?.()
}

class Transaction {
  readonly #sql: Connections
  readonly #connection: Connection
  #isEnding = false
  /** What the beginning failed with: statements after it only tell that the transaction is aborted. */
  #failure: unknown = null

  constructor(sql: Connections, connection: Connection) {
    this.#sql = sql
    this.#connection = connection
  }

  async run<T>(
    projectId: string,
    work: (tx: Tx) => Promise<T>,
    { snapshot = false, together = false }: TransactionOptions,
  ): Promise<T> {
    this.#begin(projectId, snapshot)
    try {
      const tx = this.#whileOpen()
      commits.set(tx, () => this.#commitSoon())
      const working = work(tx)
      if (together) return (await Promise.all([working, this.#commitSoon()]))[0]
      const value = await working
      if (this.#isEnding) return value
      const committed = this.#commit()
      // Nothing can be lost with it; where it fails, the connection is of no more use, and the next statement says so.
      if (snapshot) committed.catch(() => {})
      else await committed
      return value
    } catch (error) {
      if (!this.#isEnding && !this.#connection.lost) await this.#rollBack()
      throw this.#failure !== null && isAborted(error) ? this.#failure : error
    }
  }

  #begin(projectId: string, snapshot: boolean): void {
    const note = (error: unknown) => {
      this.#failure ??= error
    }
    this.#sql.unsafe(snapshot ? 'begin isolation level repeatable read read only' : 'begin').catch(note)
    // Every query has an index that gives its rows in its order. On tables that grew faster than the server took its
    // statistics, the planner would rather read a thread, or the table, as a whole: it is kept from that, from compiling
    // queries that take less time than their compilation, and from parallel workers, which read ahead of a limit.
    this.#sql`
      select
        set_config('role', 'heddle_app', true),
        set_config('heddle.project_id', ${projectId}, true),
        set_config('statement_timeout', ${`${STATEMENT_TIMEOUT_MS}`}, true),
        set_config('idle_in_transaction_session_timeout', ${`${IDLE_TIMEOUT_MS}`}, true),
        set_config('enable_seqscan', 'off', true),
        set_config('enable_bitmapscan', 'off', true),
        set_config('jit', 'off', true),
        set_config('max_parallel_workers_per_gather', '0', true)`.catch(note)
  }

  /** Work that goes on after its connection closed, or after the commit, fails at its next statement. */
  #whileOpen(): Tx {
    return new Proxy(this.#sql, {
      apply: (target, self, given) => {
        if (this.#connection.lost) throw connectionLost()
        if (this.#isEnding) throw new TypeError('a statement was made after the end of its transaction')
        return Reflect.apply(target, self, given)
      },
    })
  }

  /** The statements were made before, and are handed over before the loop turns. */
  async #commitSoon(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    await this.#commit()
  }

  /** @throws where the server rolled back, since a statement had failed whose error nobody looked at */
  async #commit(): Promise<void> {
    if (this.#connection.lost) throw connectionLost()
    this.#isEnding = true
    const { command } = await this.#sql`commit`
    if (command !== 'COMMIT')
      throw this.#failure ?? new RetryableError('INTERNAL', 'the transaction was rolled back: a statement of it failed')
  }

  async #rollBack(): Promise<void> {
    this.#isEnding = true
    await this.#sql`rollback`
  }
}

function isAborted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === ABORTED
}

/** Runs work on a connection that nobody else uses meanwhile. It fails at the moment at which the connection closes. */
export async function onConnection<T>(
  pool: Pool,
  work: (sql: Connections, connection: Connection) => Promise<T>,
  wanted: WantedConnection = {},
): Promise<T> {
  const connection = await pool.acquire(wanted)
  const late = () => {
    connection.lost = true
    throw new RetryableError('TIMEOUT', `Postgres has not answered for ${TRANSACTION_TIMEOUT_MS} ms`)
  }
  const working = async () => {
    const sql = await connection.open()
    if (connection.lost) throw connectionLost()
    return await new Promise<T>((resolve, reject) => {
      connection.onLost = () => reject(connectionLost())
      work(sql, connection).then(resolve, reject)
    })
  }
  try {
    const opened = connection.opening.within(working(), () => (connection.lost = true))
    return await within(opened, { timeoutMs: TRANSACTION_TIMEOUT_MS, late })
  } catch (error) {
    if (endsConnection(error)) connection.lost = true
    throw fromPostgres(error)
  } finally {
    pool.release(connection)
  }
}
