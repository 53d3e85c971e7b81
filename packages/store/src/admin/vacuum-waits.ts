/**
 * Within this time a statement that waits for a lock ends the autovacuum that holds it, in milliseconds. A server looks for that
 * only after its `deadlock_timeout`, by default a second, which shorter waits for locks never reach.
 */
const VACUUM_ENDS_MS = 100

/**
 * The statement that lets waits for locks end an autovacuum: for a transaction, or for the session. Only a superuser may set it;
 * for others it changes nothing, and their statements wait until the vacuum is done.
 */
export function endVacuumsSoon({ isLocal }: { readonly isLocal: boolean }): string {
  return `select set_config('deadlock_timeout', '${VACUUM_ENDS_MS}ms', ${isLocal}) from pg_roles
    where rolname = current_user and rolsuper`
}
