import { bounds } from '../base/bounds.js'
import type { SqlClient } from './sql-client.js'

/*
 * Functions that handle many jobs in BullMQ's tables at a time. BullMQ fetches and finishes one job with each statement, adds
 * many through temporary tables, and records each step of a job as an event with a notification of its own; measured here,
 * that costs the server more than storing the hundred messages of a job. These functions change the same rows in the same
 * way. Jobs with a deduplication key, retries and failures use BullMQ's own statements.
 *
 * A changed function gets a new number, so that processes of two versions can run at the same time.
 */
export const addJobsFunction = 'heddle_add_jobs_1'
export const turnJobsFunction = 'heddle_turn_jobs_3'
export const shrinkFunction = 'heddle_shrink_1'

/** Creates missing functions. */
export async function createFunctions(client: SqlClient, schema: string): Promise<void> {
  const names = [addJobsFunction, turnJobsFunction, shrinkFunction]
  const { rows } = await client.query<{ present: number }>(
    `SELECT count(*)::integer AS present FROM pg_proc
     WHERE pronamespace = to_regnamespace($1) AND proname = ANY($2::text[])`,
    [`"${schema}"`, names],
  )
  if (rows[0]?.present === names.length) return
  // Two processes that create one function at once get an error; the lock ends with the statements.
  await client.query(
    `BEGIN; SELECT pg_advisory_xact_lock(hashtext('functions of ${schema}'));
     ${addJobs(schema)}; ${turnJobs(schema)}; ${noEvents(schema)}; ${vacuumSettings(schema)}; ${shrink(schema)}; COMMIT`,
  )
}

/**
 * Adds independent jobs without a deduplication key, in their order; a job whose id exists is skipped. Payloads are sent as
 * one byte string with their lengths, and stored as text inside a JSON string, so that the server does not parse them.
 */
function addJobs(schema: string): string {
  return `
    CREATE OR REPLACE FUNCTION "${schema}".${addJobsFunction}(
      p_queue text, p_ids text[], p_names text[], p_opts text[], p_attempts integer[], p_added_at_ms bigint[],
      p_payloads bytea, p_starts integer[], p_lengths integer[]
    ) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(hashtext('bullmq:finalization'), hashtext(p_queue));
      INSERT INTO job (queue, id, seq, name, state, data, opts, max_attempts, added_at_ms)
      SELECT
        p_queue, added.id, nextval('job_seq'), added.name, 'waiting',
        to_jsonb(convert_from(substring(p_payloads FROM added.start FOR added.length), 'UTF8')),
        added.opts::jsonb, added.attempts, added.at_ms
      FROM unnest(p_ids, p_names, p_opts, p_attempts, p_added_at_ms, p_starts, p_lengths)
        AS added (id, name, opts, attempts, at_ms, start, length)
      ON CONFLICT (queue, id) DO NOTHING;
      IF FOUND THEN
        PERFORM pg_notify('bullmq_jobs', p_queue);
      END IF;
    END $$`
}

/**
 * Removes finished jobs and fetches the next ones. A job that could not be removed (its lock was lost, or it has a
 * deduplication key) is listed in \`kept\`, and is handled by BullMQ. If fewer jobs were fetched than requested,
 * \`next_at_ms\` is the time of the next retry, and \`has_waiting\` says whether a job still waits, such as
 * one that another worker has locked.
 *
 * Its statements always use the indexes: the planner's statistics are wrong for tables that are empty one second and full
 * the next.
 */
function turnJobs(schema: string): string {
  return `
    CREATE OR REPLACE FUNCTION "${schema}".${turnJobsFunction}(
      p_queue text, p_ids text[], p_tokens text[], p_take integer, p_token text, p_lock_ms bigint, p_now_ms bigint
    ) RETURNS TABLE (
      kept text[], next_at_ms bigint, has_waiting boolean, id text, seq bigint, token text, name text, data text, opts jsonb,
      added_at_ms bigint, processed_at_ms bigint, attempts_made integer, attempts_started integer, stalled_count integer,
      dedup_id text, failed_reason text
    ) LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    #variable_conflict use_column
    DECLARE
      v_kept text[];
      v_taken integer := 0;
      v_next_at_ms bigint;
      v_has_waiting boolean := false;
    BEGIN
      IF cardinality(p_ids) > 0 THEN
        PERFORM pg_advisory_xact_lock_shared(hashtext('bullmq:finalization'), hashtext(p_queue));
        WITH gone AS (
          DELETE FROM job USING unnest(p_ids, p_tokens) AS ended (id, token)
          WHERE job.queue = p_queue AND job.id = ended.id AND job.state = 'active' AND job.lock_token = ended.token
            AND job.dedup_id IS NULL AND job.parent_id IS NULL
          RETURNING job.id)
        SELECT array_agg(ended.id) INTO v_kept FROM unnest(p_ids) AS ended (id)
        WHERE NOT EXISTS (SELECT FROM gone WHERE gone.id = ended.id);
      END IF;
      IF p_take > 0 THEN
        UPDATE job SET state = 'waiting', delay_ms = 0
        WHERE job.queue = p_queue AND job.state = 'delayed' AND job.process_at_ms <= p_now_ms;
        -- Set by a clock that was ahead.
        UPDATE job SET state = 'waiting', delay_ms = 0
        WHERE job.queue = p_queue AND job.state = 'delayed' AND job.process_at_ms > p_now_ms + ${bounds.dueMsMax};
        UPDATE job SET locked_until_ms = p_now_ms + p_lock_ms
        WHERE job.queue = p_queue AND job.state = 'active' AND job.locked_until_ms > p_now_ms + ${bounds.dueMsMax};
        -- BullMQ checks for orphaned jobs only some time after its last check.
        DELETE FROM meta
        WHERE meta.queue = p_queue AND meta.field = 'stalled-check'
          AND meta.value::bigint > p_now_ms + ${bounds.dueMsMax};
        IF NOT EXISTS (SELECT FROM meta WHERE meta.queue = p_queue AND meta.field = 'paused' AND meta.value = '1') THEN
          RETURN QUERY
          WITH next AS MATERIALIZED (
            SELECT job.id FROM job WHERE job.queue = p_queue AND job.state = 'waiting'
            ORDER BY job.priority, job.seq LIMIT p_take FOR UPDATE SKIP LOCKED),
          numbered AS MATERIALIZED (SELECT next.id, row_number() OVER () AS number FROM next)
          UPDATE job SET
            state = 'active', lock_token = p_token || '-' || numbered.number, locked_until_ms = p_now_ms + p_lock_ms,
            processed_at_ms = p_now_ms, attempts_started = job.attempts_started + 1
          FROM numbered WHERE job.queue = p_queue AND job.id = numbered.id
          RETURNING
            NULL::text[], NULL::bigint, NULL::boolean, job.id, job.seq, job.lock_token, job.name,
            coalesce(job.data #>> '{}', 'null'), job.opts, job.added_at_ms, job.processed_at_ms, job.attempts_made,
            job.attempts_started, job.stalled_count, job.dedup_id, job.failed_reason;
          GET DIAGNOSTICS v_taken = ROW_COUNT;
        END IF;
        IF v_taken < p_take THEN
          SELECT min(job.process_at_ms) INTO v_next_at_ms FROM job
          WHERE job.queue = p_queue AND job.state = 'delayed';
          -- After the time of the next retry: a job that another worker makes waiting in between is not notified.
          v_has_waiting := EXISTS (SELECT FROM job WHERE job.queue = p_queue AND job.state = 'waiting');
        END IF;
      END IF;
      IF v_kept IS NOT NULL OR v_next_at_ms IS NOT NULL OR v_has_waiting THEN
        kept := v_kept;
        next_at_ms := v_next_at_ms;
        has_waiting := v_has_waiting;
        RETURN NEXT;
      END IF;
    END $$`
}

/**
 * Turns off BullMQ's event log, which has no reader here and whose notifications would wake every process. Jobs that are added
 * many at a time are logged without the function: hence the rule.
 */
function noEvents(schema: string): string {
  return `
    CREATE OR REPLACE RULE heddle_no_events AS ON INSERT TO "${schema}".event DO INSTEAD NOTHING;
    TRUNCATE "${schema}".event;
    CREATE OR REPLACE FUNCTION "${schema}".publish_event(p_queue text, p_event text, p_data jsonb) RETURNS bigint
    LANGUAGE sql AS 'SELECT 0::bigint'`
}

/**
 * Jobs come and go: a table of them that is vacuumed once a fifth of it is dead, as Postgres does by default, is as large as
 * the longest backlog it ever held. A fixed number of dead rows is free for new jobs within a minute instead.
 */
function vacuumSettings(schema: string): string {
  const settings = { vacuum_scale_factor: 0, vacuum_threshold: DEAD_ROWS_MAX, vacuum_cost_delay: 0 }
  const of = (prefix: string) =>
    Object.entries(settings).map(([name, value]) => `${prefix}autovacuum_${name} = ${value}`)
  return `
    ALTER TABLE "${schema}".job SET (${[...of(''), ...of('toast.')].join(', ')});
    ALTER TABLE "${schema}".dedup SET (${of('').join(', ')})`
}

const DEAD_ROWS_MAX = 1_000

/**
 * Gives the space of finished jobs back to the disk: a vacuum frees it for other jobs, but leaves indexes as large as they ever
 * were, and a table whose last page is in use. A table with few rows is written anew, which takes some milliseconds and locks
 * it meanwhile; one that is in use, is left for the next time.
 *
 * It works as the owner of the tables: no other login may rewrite them.
 */
function shrink(schema: string): string {
  return `
    CREATE OR REPLACE FUNCTION "${schema}".${shrinkFunction}(p_bytes_min bigint, p_rows_max integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = "${schema}", pg_temp SET lock_timeout = '50ms' AS $$
    DECLARE
      v_table text;
      v_parts integer;
      v_rows bigint;
      v_shrunk integer := 0;
    BEGIN
      FOREACH v_table IN ARRAY ARRAY['job', 'dedup'] LOOP
        -- Its rows, what is stored outside them, and each index.
        SELECT count(*) + 2 INTO v_parts FROM pg_index WHERE indrelid = v_table::regclass;
        CONTINUE WHEN pg_total_relation_size(v_table::regclass) < p_bytes_min * v_parts;
        EXECUTE format('SELECT count(*) FROM (SELECT FROM %I LIMIT %s) AS limited', v_table, p_rows_max + 1) INTO v_rows;
        CONTINUE WHEN v_rows > p_rows_max;
        EXECUTE format('CLUSTER %I USING %I', v_table, v_table || '_pkey');
        v_shrunk := v_shrunk + 1;
      END LOOP;
      RETURN v_shrunk;
    EXCEPTION
      WHEN lock_not_available THEN RETURN v_shrunk;
    END $$`
}
