import { inspectServer, migrate, openStore } from '@heddle/store'
import { freshDatabase, waitFor } from '@heddle/test-support'
import postgres from 'postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { applyBefore } from './earlier-chain.js'
import { append, appendOne, PROJECT, prepared } from './support.js'

async function emptyDatabase() {
  const database = await freshDatabase()
  onTestFinished(() => database.drop())
  return database
}

/** A connection as the one that owns the database. */
function ownerOf(url: string): postgres.Sql {
  const sql = postgres(url, { max: 2, onnotice: () => {} })
  onTestFinished(() => sql.end())
  return sql
}

describe('migrate', () => {
  it('lets ten processes start at once and applies each migration once', async () => {
    const { url } = await emptyDatabase()
    const results = await Promise.all(Array.from({ length: 10 }, () => migrate({ url })))
    const applied = results.flatMap((result) => result.applied)
    expect(applied).toContain('0000_schema')
    expect(new Set(applied).size).toBe(applied.length)
    expect(results.filter((result) => result.applied.length > 0)).toHaveLength(1)
    const sql = ownerOf(url)
    const [{ count } = { count: 0 }] = await sql`select count(*)::integer as count from heddle_migrations.applied`
    expect(count).toBe(applied.length)
  })

  it('migrates several databases of one cluster at once, though they share the role', async () => {
    const databases = await Promise.all([emptyDatabase(), emptyDatabase(), emptyDatabase(), emptyDatabase()])
    const results = await Promise.all(databases.map(({ url }) => migrate({ url })))
    for (const { applied } of results) expect(applied).toContain('0000_schema')
  })

  it('changes nothing in a database that is up to date', async () => {
    const { url } = await emptyDatabase()
    await migrate({ url })
    expect(await migrate({ url })).toEqual({ applied: [] })
    const health = await inspectServer({ url })
    expect(health.migrationsPending).toEqual([])
    expect(health.mayTakeRole).toBe(true)
  })

  it('gives up with a typed error when another process holds the lock for too long', async () => {
    const { url } = await emptyDatabase()
    await ownerOf(url)`select pg_advisory_lock(4680046800)`
    await expect(migrate({ url, lockTimeoutMs: 50 })).rejects.toMatchObject({ name: 'RetryableError', code: 'TIMEOUT' })
  })

  it('waits for a table that a long report reads, without keeping others from it for longer than half a second', async () => {
    const { url } = await emptyDatabase()
    const sql = ownerOf(url)
    // It adds a column to a table.
    await applyBefore(sql, '0020_shared_blocks')
    const report = await sql.reserve()
    await report.unsafe('begin; select from heddle.memory_block_versions')
    const migrated = migrate({ url })
    await waitFor(async () => {
      const [row] = await sql`
        select from pg_locks join pg_stat_activity as activity using (pid)
        where not granted and activity.application_name = 'heddle migrate' and activity.datname = current_database()`
      return row !== undefined
    })
    const startedAt = performance.now()
    await sql`select from heddle.memory_block_versions`
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    await report.unsafe('commit')
    report.release()
    expect((await migrated).applied).toContain('0020_shared_blocks')
  })

  it('begins again when the server ends it because of a deadlock with a service', async () => {
    const { url } = await emptyDatabase()
    const sql = ownerOf(url)
    await applyBefore(sql, '0014_calibrations')
    // A sequence also counts in a transaction that fails.
    await sql.unsafe(`
      create sequence public.tries;
      create function public.end_first() returns event_trigger language plpgsql as $$
      begin
        if nextval('public.tries') = 1 then
          raise exception 'deadlock detected' using errcode = 'deadlock_detected';
        end if;
      end $$;
      create event trigger end_first on ddl_command_start when tag in ('CREATE INDEX') execute function public.end_first()`)
    expect((await migrate({ url })).applied).toContain('0021_placement')
  })

  it('forces row-level security on every table, each with its policy', async () => {
    const { url } = await emptyDatabase()
    await migrate({ url })
    const tables = await ownerOf(url)<{ name: string; enabled: boolean; forced: boolean; policies: number }[]>`
      select
        class.relname as name, class.relrowsecurity as enabled, class.relforcerowsecurity as forced,
        (select count(*)::integer from pg_policies
         where schemaname = 'heddle' and tablename = class.relname and policyname = 'own_project_only') as policies
      from pg_class as class
      where class.relnamespace = 'heddle'::regnamespace and class.relkind in ('r', 'p')`
    expect(tables.length).toBeGreaterThan(20)
    expect(tables.filter(({ enabled, forced, policies }) => !enabled || !forced || policies !== 1)).toEqual([])
  })

  it('lets the services insert into and delete from append-only tables, but not update them', async () => {
    const { url } = await emptyDatabase()
    await migrate({ url })
    const [may] = await ownerOf(url)`
      select
        has_table_privilege('heddle_app', 'heddle.messages', 'update') as change,
        has_table_privilege('heddle_app', 'heddle.messages', 'insert') as add,
        has_table_privilege('heddle_app', 'heddle.messages', 'delete') as remove`
    expect(may).toEqual({ change: false, add: true, remove: true })
  })
})

describe('an owner that is no superuser', () => {
  async function plainOwner() {
    const { url, name } = await emptyDatabase()
    const sql = ownerOf(url)
    const role = `owner_of_${name}`
    await sql`create role ${sql(role)} login createrole password 'plain'`
    await sql`alter database ${sql(name)} owner to ${sql(role)}`
    // On a cluster with an existing heddle_app, another user may have created it, who must grant it once.
    const [{ found } = { found: false }] =
      await sql`select exists (select from pg_roles where rolname = 'heddle_app') as found`
    if (found) await sql`grant heddle_app to ${sql(role)}`
    onTestFinished(async () => {
      await sql`drop owned by ${sql(role)} cascade`
      await sql`reassign owned by ${sql(role)} to current_user`
      await sql`drop role ${sql(role)}`
    })
    const ownUrl = new URL(url)
    ownUrl.username = role
    ownUrl.password = 'plain'
    return ownUrl.href
  }

  it('can migrate and serve, and is bound by row-level security itself', async () => {
    const url = await plainOwner()
    await migrate({ url })
    const store = openStore({ url })
    onTestFinished(() => store.close())
    await appendOne(store, append([prepared()]))

    const sql = ownerOf(url)
    expect(await sql`select rolsuper from pg_roles where rolname = current_user`).toEqual([{ rolsuper: false }])
    expect(await sql`select * from heddle.messages`).toEqual([])
    const [seen] = await store.inProject(PROJECT, (tx) => tx`select count(*)::integer as count from heddle.messages`)
    expect(seen).toEqual({ count: 1 })
  })

  it('lets the reconciler find lagging threads of all projects', async () => {
    const url = await plainOwner()
    await migrate({ url })
    const store = openStore({ url })
    onTestFinished(() => store.close())
    const { threadId } = await appendOne(store, append([prepared()]))
    const { findLaggingThreads } = await import('@heddle/store')
    const work = await findLaggingThreads(store, { limit: 10, nowMs: Date.now() })
    expect(work.map(({ stage }) => stage).sort()).toEqual(['embed', 'prune'])
    expect(work.every((one) => one.threadId === threadId && one.projectId === PROJECT)).toBe(true)
  })

  it('can read every table that a function queries for all projects', async () => {
    const url = await plainOwner()
    await migrate({ url })
    const sql = ownerOf(url)
    const hidden = await sql`
      select proname as function, relname as "table"
      from pg_proc
      join pg_class on pg_class.relnamespace = pg_proc.pronamespace and pg_class.relforcerowsecurity
        and prosrc ~ ('heddle\\.' || relname || '\\M')
      where prosecdef and pronamespace = 'heddle'::regnamespace
        and not exists (
          select from pg_policy where polrelid = pg_class.oid and polcmd = 'r' and pg_policy.polroles <> '{0}'
            and pg_has_role(current_user, polroles[1], 'usage') and polname = 'owner_reads_all')`
    expect(hidden).toEqual([])
  })
})
