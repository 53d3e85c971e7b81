import { onPostgres } from '@heddle/test-support/servers/queue-server'

/**
 * What the pipeline is robbed of, to show that a run without it fails. All of it is done from outside: to the database, and
 * by what the workers are started with.
 */
export const sabotageNames = ['idempotency', 'order', 'reconciler'] as const
export type SabotageName = (typeof sabotageNames)[number]

/** The figure that has to miss, without the backend. */
export const expectedMisses: Readonly<Record<SabotageName, string>> = {
  idempotency: 'ingest.duplicated',
  order: 'ingest.disordered',
  reconciler: 'ingest.drained',
}

/** The name under which ingest workers connect that are not to see what is stored. */
export const BLIND_APPLICATION = 'chaos-blind'

/** Messages may come twice, and those who store them see none that are there. */
const WITHOUT_IDEMPOTENCY = `
  alter table heddle.messages drop constraint messages_id, drop constraint messages_code;
  alter table heddle.messages
    add constraint messages_id unique (thread_id, id, seq), add constraint messages_code unique (thread_id, code, seq);
  create policy blind on heddle.messages as restrictive for select to heddle_app
    using (current_setting('application_name') <> '${BLIND_APPLICATION}');`

/** Messages stand in the order in which they were stored. */
const BY_ARRIVAL = `
  create function heddle.by_arrival() returns trigger language plpgsql as $$
  begin
    new.ordered_at := clock_timestamp();
    new.ordinal := new.seq;
    return new;
  end $$;
  create trigger by_arrival before insert on heddle.messages for each row execute function heddle.by_arrival();`

export async function sabotageDatabase(name: SabotageName, databaseUrl: string): Promise<void> {
  if (name === 'idempotency') await onPostgres(databaseUrl, WITHOUT_IDEMPOTENCY)
  if (name === 'order') await onPostgres(databaseUrl, BY_ARRIVAL)
}
