import { endVacuumsSoon } from '../../admin/vacuum-waits.js'
import type { MoveServer } from './move-server.js'
import type { MovedTable } from './moved-tables.js'
import { retried } from './retried.js'

/*
 * Triggers note the keys of a project's rows that change while it is copied, in `heddle_placement.changes`. They also take the lock
 * of the project and refuse writes after it has left, for processes that do not know of other databases.
 */

/** Half of the lock of a project; the other is its hash. */
export const PLACE_LOCK_SPACE = 46_804_682
const TRIGGER = 'heddle_move'

/**
 * How long the installation waits for a table. Statements that come meanwhile wait behind it, so this bounds their delay; after it,
 * they go first.
 */
const LOCK_MS = 200

/** Once it resolves, every change that commits is noted, and all others were committed before. */
export async function noteChanges(server: MoveServer, tables: readonly MovedTable[], projectId: string): Promise<void> {
  await server.run((sql) => sql.unsafe(tables.map((table) => functionOf(table, projectId)).join(';')))
  const noted = new Set((await triggers(server)).map(({ table }) => table))
  for (const table of tables.filter(({ table: name }) => !noted.has(name))) {
    await locked(
      server,
      `create trigger ${TRIGGER} after insert or update or delete on heddle."${table.table}"
       for each row execute function ${nameOf(table)}()`,
    )
  }
}

/** Removes the triggers, and all notes with them. */
export async function stopNoting(server: MoveServer): Promise<void> {
  for (const { table } of await triggers(server))
    await locked(server, `drop trigger if exists ${TRIGGER} on heddle."${table}"`)
  await server.run(async (sql) => {
    const functions = await sql<{ name: string }[]>`
      select oid::regprocedure::text as name from pg_proc
      where pronamespace = 'heddle_placement'::regnamespace and starts_with(proname, 'note_')`
    const drops = functions.map(({ name }) => `drop function if exists ${name};`)
    await sql.unsafe(`${drops.join('')} truncate heddle_placement.changes`)
  })
}

async function triggers(server: MoveServer): Promise<{ table: string }[]> {
  return await server.run(
    async (sql) =>
      await sql<{ table: string }[]>`
      select relname as table from pg_trigger join pg_class on pg_class.oid = tgrelid where tgname = ${TRIGGER}`,
  )
}

async function locked(server: MoveServer, statement: string): Promise<void> {
  await retried(() =>
    server.begin(async (tx) => {
      await tx.unsafe(`set local lock_timeout = ${LOCK_MS}; ${endVacuumsSoon({ isLocal: true })}; ${statement}`)
    }),
  )
}

function nameOf({ table }: MovedTable): string {
  return `heddle_placement."note_${table}"`
}

function functionOf(table: MovedTable, projectId: string): string {
  const keyOf = (row: string) =>
    `jsonb_build_object(${table.keys.map((key) => `'${key}', ${row}."${key}"`).join(', ')})`
  return `
    create or replace function ${nameOf(table)}() returns trigger
    language plpgsql security definer set search_path = ''
    as $$
    begin
      if coalesce(new.project_id, old.project_id) <> '${projectId}'::uuid
        or coalesce(current_setting('heddle.move', true), '') = 'on' then
        return null;
      end if;
      perform pg_advisory_xact_lock_shared(${PLACE_LOCK_SPACE}, hashtext('${projectId}'));
      if exists (
        select from heddle_placement.placement as place where place.project_id = '${projectId}'::uuid and not place.is_here
      ) then
        raise exception 'the project is in another database' using errcode = 'HP001';
      end if;
      if tg_op <> 'INSERT' then
        insert into heddle_placement.changes (table_name, key) values ('${table.table}', ${keyOf('old')});
      end if;
      if tg_op = 'INSERT' or tg_op = 'UPDATE' and ${keyOf('new')} <> ${keyOf('old')} then
        insert into heddle_placement.changes (table_name, key) values ('${table.table}', ${keyOf('new')});
      end if;
      return null;
    end $$`
}
