import type { Store } from '../store.js'

/**
 * The application names of all processes that are connected to this database, without duplicates. A killed process
 * disappears from the list once the server has noticed.
 *
 * For connections of other logins Postgres shows little more than this name, so nothing else is queried.
 *
 * @param prefix only names that begin with it; case matters
 */
export async function listApplications(store: Store, { prefix }: { prefix: string }): Promise<string[]> {
  const rows = await store.asReconciler(
    async (tx) =>
      await tx<{ name: string }[]>`
      select distinct application_name as name from pg_stat_activity
      where datname = current_database() and starts_with(application_name, ${prefix})
      order by name`,
  )
  return rows.map(({ name }) => name)
}
