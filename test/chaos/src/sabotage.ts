import { onPostgres } from '@heddle/test-support/servers/queue-server'

/**
 * Removes one thing that the pipeline depends on, to show that a run without it fails. All of it is done from outside: in the
 * database, and by the start parameters of the workers.
 */
export const sabotageNames = ['idempotency', 'order', 'reconciler'] as const
export type SabotageName = (typeof sabotageNames)[number]

/** The figure that must fail, without the backend. */
export const expectedMisses: Readonly<Record<SabotageName, string>> = {
  idempotency: 'ingest.duplicated',
  order: 'ingest.disordered',
  reconciler: 'ingest.drained',
}

/** The connection name of ingest workers that must not see stored messages. */
export const BLIND_APPLICATION = 'chaos-blind'

/** Duplicate messages are allowed, and ingest does not see stored ones. */
const WITHOUT_IDEMPOTENCY = `
  alter table heddle.messages drop constraint messages_code;
  alter table heddle.messages
    add constraint messages_code unique (thread_id, code, seq);
  create policy blind on heddle.messages as restrictive for select to heddle_app
    using (current_setting('application_name') <> '${BLIND_APPLICATION}');`

/** Messages are in the order of storing. */
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
