import type { Tx } from '../connection/connection.js'

/** A database of a store. */
export interface Database {
  readonly name: string
  /** Runs `work` in a transaction without a project: tables show no rows, only the functions of the reconciler return any. */
  asReconciler<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Resolves if the server answers and accepts writes.
   *
   * @throws RetryableError `SERVICE_UNAVAILABLE`
   */
  ping(): Promise<void>
}

/**
 * The rows that `work` finds in the projects of all databases. One that is down hides its rows from the reconciler and from
 * nothing else: its own projects wait for it.
 *
 * @throws the error of the first database if all fail
 */
export async function inEachDatabase<Row>(
  { databases }: { readonly databases: readonly Database[] },
  work: (tx: Tx) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const found = await Promise.allSettled(databases.map((database) => database.asReconciler(work)))
  const [first] = found
  if (first?.status === 'rejected' && found.every(({ status }) => status === 'rejected')) throw first.reason
  return found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
}
