import { RetryableError } from '@heddle/contracts'
import { within } from '@heddle/runtime'
import { type Known, knownLineages, LINEAGES, type Lineages, rememberLineages } from '../forks/lineage.js'
import type { Connections, Tx } from './connection.js'
import type { Connection, Pool, WantedConnection } from './pool.js'
import { connectionLost, endsConnection, fromPostgres } from './postgres-errors.js'

export interface TransactionOptions {
  /**
   * All statements see the database as of the first one, for reads whose results must be consistent. Default false: each
   * statement sees the data that was committed before it began.
   */
  readonly snapshot?: boolean
  /**
   * Sends the commit together with the statements, which `work` must send all at once: no statement, and not the commit, may
   * depend on the result of another. One round trip instead of two. Default false.
   */
  readonly together?: boolean
  /**
   * Gets the next free connection before callers that wait longer: for short statements that decide whether a request is
   * admitted. Default false.
   */
  readonly isFirst?: boolean
  /**
   * Plans each statement once for a connection. For statements that read by keys alone: the planner would often make a plan
   * for each execution, which takes longer than the statement. Those that read a fork need plans for their values. Default
   * false.
   */
  readonly arePlansKept?: boolean
}

/**
 * Runs in the transaction before its work begins, and is awaited.
 *
 * @throws where the work must not run
 */
export type Entrance = (tx: Tx, isSnapshot: boolean) => Promise<void>

const STATEMENT_TIMEOUT_MS = 60_000
/** Limits how long a worker that hangs in a transaction keeps its locks. */
const IDLE_TIMEOUT_MS = 60_000
/** For a server that vanished, where no statement ends by itself. Longer than any statement of a running server. */
const TRANSACTION_TIMEOUT_MS = 150_000
/** The code of statements after a failed one, until the transaction ends. */
const ABORTED = '25P02'

/**
 * Runs `work` in a transaction of one project, on a connection of the pool. The `begin` is sent with the first statement, and
 * the commit of a read-only transaction is not awaited.
 */
export async function transact<T>(
  pool: Pool,
  projectId: string,
  work: (tx: Tx) => Promise<T>,
  options: TransactionOptions = {},
  entrance?: Entrance,
): Promise<T> {
  const { isFirst = false } = options
  const run = (sql: Connections, connection: Connection) =>
    new Transaction(sql, connection, pool.lineages).run(projectId, work, options, entrance)
  return await onConnection(pool, run, { owner: projectId, isFirst })
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
  readonly #lineages: Known
  #isEnding = false
  /** The error of `begin`: later statements only report that the transaction is aborted. */
  #failure: unknown = null

  constructor(sql: Connections, connection: Connection, lineages: Lineages) {
    this.#sql = sql
    this.#connection = connection
    this.#lineages = knownLineages(lineages)
  }

  async run<T>(
    projectId: string,
    work: (tx: Tx) => Promise<T>,
    { snapshot = false, together = false, arePlansKept = false }: TransactionOptions,
    entrance: Entrance | undefined,
  ): Promise<T> {
    this.#begin(projectId, { snapshot, arePlansKept })
    try {
      const tx = this.#whileOpen()
      await entrance?.(tx, snapshot)
      commits.set(tx, () => this.#commitSoon())
      const working = work(tx)
      if (together) return (await Promise.all([working, this.#commitSoon()]))[0]
      const value = await working
      if (this.#isEnding) return value
      const committed = this.#commit()
      // Nothing can be lost; if it fails, the next statement on the connection fails, too.
      if (snapshot) committed.catch(() => {})
      else await committed
      return value
    } catch (error) {
      if (!this.#isEnding && !this.#connection.lost) await this.#rollBack()
      throw this.#failure !== null && isAborted(error) ? this.#failure : error
    }
  }

  #begin(
    projectId: string,
    { snapshot, arePlansKept }: { readonly snapshot: boolean; readonly arePlansKept: boolean },
  ): void {
    const note = (error: unknown) => {
      this.#failure ??= error
    }
    const level = snapshot ? 'repeatable read read only' : 'read committed'
    // Named, because statements that wait for a lock must see what the other transaction has committed.
    this.#sql.unsafe(`begin isolation level ${level}`).catch(note)
    // Every query has an index in its order. On tables that grew faster than the statistics, the planner would read a whole
    // thread or table instead. These settings prevent that, the compilation of queries that are faster than their compilation,
    // and parallel workers, which read beyond a limit.
    this.#sql`
      select
        set_config('role', 'heddle_app', true),
        set_config('heddle.project_id', ${projectId}, true),
        set_config('statement_timeout', ${`${STATEMENT_TIMEOUT_MS}`}, true),
        set_config('idle_in_transaction_session_timeout', ${`${IDLE_TIMEOUT_MS}`}, true),
        set_config('plan_cache_mode', ${arePlansKept ? 'force_generic_plan' : 'auto'}, true),
        set_config('enable_seqscan', 'off', true),
        set_config('enable_bitmapscan', 'off', true),
        set_config('jit', 'off', true),
        set_config('max_parallel_workers_per_gather', '0', true)`.catch(note)
  }

  /** Work that goes on after its connection closed, or after the commit, fails at its next statement. */
  #whileOpen(): Tx {
    return new Proxy(this.#sql, {
      apply: (target, self, given) => {
        if (this.#connection.lost) return failed(connectionLost())
        if (this.#isEnding) return failed(new TypeError('a statement was sent after the end of its transaction'))
        return Reflect.apply(target, self, given)
      },
      get: (target, key) => (key === LINEAGES ? this.#lineages : Reflect.get(target, key)),
    })
  }

  /** Commits in the next tick: the statements of `work` have been sent by then. */
  async #commitSoon(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    // A statement that could not be sent has ended the transaction meanwhile.
    if (!this.#isEnding) await this.#commit()
  }

  /** @throws if the server rolled back, because a statement had failed whose error was ignored */
  async #commit(): Promise<void> {
    if (this.#connection.lost) throw connectionLost()
    this.#isEnding = true
    const { command } = await this.#sql`commit`
    if (command !== 'COMMIT')
      throw this.#failure ?? new RetryableError('INTERNAL', 'the transaction was rolled back: a statement of it failed')
    rememberLineages(this.#lineages)
  }

  async #rollBack(): Promise<void> {
    this.#isEnding = true
    await this.#sql`rollback`
  }
}

/**
 * In place of a statement. Thrown at once, it would leave those beside it in a `Promise.all` without anything that handles their
 * errors, which ends the process.
 */
function failed(error: Error): Promise<never> {
  const failing = Promise.reject(error)
  failing.catch(() => {})
  return failing
}

function isAborted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === ABORTED
}

/** Runs work on an exclusive connection. It fails at the moment at which the connection closes. */
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
