import type postgres from 'postgres'

/**
 * The complete content of Postgres' catalogs for the two schemas of the store, one line for each object, sorted, without the
 * order of columns: a column of a later migration comes last, and no statement depends on its position.
 */
export async function readCatalog(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    with own as (
      select oid, nspname, nspacl from pg_namespace where nspname in ('heddle', 'heddle_migrations')
    ),
    class as (
      select pg_class.*, own.nspname || '.' || pg_class.relname as name
      from pg_class join own on own.oid = pg_class.relnamespace
    )
    select line from (
      select concat_ws(' ', 'schema', nspname, ${rightsOf(sql, 'nspacl')}) from own
      union all
      select concat_ws(' ', 'default rights', own.nspname, defaclobjtype, ${rightsOf(sql, 'defaclacl')})
      from pg_default_acl join own on own.oid = defaclnamespace
      union all
      select concat_ws(' ', 'relation', relkind, name, relpersistence, relreplident, relrowsecurity, relforcerowsecurity,
        pg_get_userbyid(relowner), reloptions::text, ${rightsOf(sql, 'relacl')})
      from class
      union all
      select concat_ws(' ', 'column', class.name, attname, format_type(atttypid, atttypmod), attcollation::regcollation,
        'not null', attnotnull, 'storage', attstorage, attcompression, attstattarget, 'identity', attidentity, 'generated',
        attgenerated, 'default', pg_get_expr(adbin, adrelid), ${rightsOf(sql, 'attacl')})
      from pg_attribute join class on class.oid = attrelid and relkind in ('r', 'p', 'v')
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attnum > 0 and not attisdropped
      union all
      select concat_ws(' ', 'sequence', class.name, format_type(seqtypid, null), seqstart, seqincrement, seqmin, seqmax,
        seqcache, seqcycle)
      from pg_sequence join class on class.oid = seqrelid
      union all
      select concat_ws(' ', 'constraint', class.name, conname, contype, convalidated, pg_get_constraintdef(pg_constraint.oid))
      from pg_constraint join class on class.oid = conrelid
      union all
      select concat_ws(' ', 'index', indisvalid, indisunique, indisprimary, pg_get_indexdef(indexrelid))
      from pg_index join class on class.oid = indexrelid
      union all
      select concat_ws(' ', 'policy', tablename, policyname, permissive, roles::text, cmd, 'using', qual, 'check', with_check)
      from pg_policies where schemaname in (select nspname from own)
      union all
      select concat_ws(' ', 'function', pg_get_userbyid(proowner), ${rightsOf(sql, 'proacl')}, pg_get_functiondef(pg_proc.oid))
      from pg_proc join own on own.oid = pronamespace
      union all
      select concat_ws(' ', 'trigger', class.name, pg_get_triggerdef(pg_trigger.oid))
      from pg_trigger join class on class.oid = tgrelid where not tgisinternal
      union all
      select concat_ws(' ', 'rule', class.name, pg_get_ruledef(pg_rewrite.oid))
      from pg_rewrite join class on class.oid = ev_class
      union all
      select concat_ws(' ', 'type', nspname, typname, typtype)
      from pg_type join own on own.oid = typnamespace
      union all
      select concat_ws(' ', 'statistics', pg_get_statisticsobjdef(pg_statistic_ext.oid))
      from pg_statistic_ext join own on own.oid = stxnamespace
      union all
      select concat_ws(' ', 'comment', identity, description)
      from pg_description cross join lateral pg_identify_object(classoid, objoid, objsubid)
      where schema in (select nspname from own) or identity in (select nspname from own)
      union all
      select concat_ws(' ', 'extension', extname) from pg_extension
    ) as catalog (line)
    order by line collate "C"`
  return rows.map(({ line }) => line)
}

/** The privileges, sorted, because an array of privileges is in the order of granting. */
function rightsOf(sql: postgres.Sql, rights: string) {
  return sql`(
    select string_agg(concat_ws(' ', grantor::regrole, grantee::regrole, privilege_type, is_grantable), ', '
      order by grantor::regrole::text, grantee::regrole::text, privilege_type)
    from aclexplode(${sql(rights)}))`
}
