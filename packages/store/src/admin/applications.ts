import type { Store } from '../store.js'

/**
 * The names under which processes are connected to this database now, each once: who works here, as the server sees it.
 * A process that was killed is gone from it as soon as the server has noticed.
 *
 * Of connections of other logins Postgres shows little more than these names, so nothing else is asked.
 *
 * @param prefix only names that begin with it, to the letter
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
