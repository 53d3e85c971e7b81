-- By hand: fixed columns first, the widest of them before the others. Between texts each would be filled up to whole words, which
-- is ten bytes of each message. Only a table that never held a row is made anew: an existing one keeps its order of columns.
-- By the size of its file, since row-level security hides rows from its owner.
DO $$
BEGIN
	IF (SELECT relkind = 'r' FROM pg_catalog.pg_class WHERE oid = 'heddle.messages'::regclass)
		AND pg_catalog.pg_relation_size('heddle.messages') = 0 THEN
		DROP TABLE "heddle"."messages";
		CREATE TABLE "heddle"."messages" (
			"thread_id" uuid NOT NULL,
			"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
			"id" uuid NOT NULL,
			"seq" bigint NOT NULL,
			"ordered_at" timestamp (3) with time zone NOT NULL,
			"received_at" timestamp (3) with time zone NOT NULL,
			"sent_at" timestamp (3) with time zone,
			"latest_at" timestamp (3) with time zone NOT NULL,
			"restores_seq" bigint,
			"context_id" uuid,
			"ordinal" integer NOT NULL,
			"tokens_estimate" integer NOT NULL,
			"content" text NOT NULL,
			"is_error" boolean DEFAULT false NOT NULL,
			"pinned" boolean DEFAULT false NOT NULL,
			"content_escaped" boolean DEFAULT false NOT NULL,
			"code" text collate "C" NOT NULL,
			"role" text NOT NULL,
			"fingerprint" "bytea" NOT NULL,
			"tool_call_id" text,
			"tool_name" text,
			"source_id" text,
			"model" text,
			"kept_aside" text,
			"parts" json,
			"thinking" json,
			"tool_calls" json,
			"usage" json,
			"metadata" json,
			CONSTRAINT "messages_thread_id_seq_pk" PRIMARY KEY("thread_id","seq"),
			CONSTRAINT "messages_id" UNIQUE("thread_id","id"),
			CONSTRAINT "messages_code" UNIQUE("thread_id","code")
		);
		ALTER TABLE "heddle"."messages" ENABLE ROW LEVEL SECURITY;
		ALTER TABLE "heddle"."messages" FORCE ROW LEVEL SECURITY;
		CREATE INDEX "messages_order" ON "heddle"."messages" USING btree ("thread_id","ordered_at","ordinal","id");
		CREATE INDEX "messages_late" ON "heddle"."messages" USING btree ("thread_id","ordered_at") WHERE ordered_at < latest_at;
		CREATE INDEX "messages_restored" ON "heddle"."messages" USING btree ("thread_id","restores_seq","seq") WHERE restores_seq is not null;
		CREATE INDEX "messages_aside" ON "heddle"."messages" USING btree ("thread_id","ordered_at") WHERE kept_aside is not null or role in ('error', 'approval');
		CREATE POLICY "own_project_only" ON "heddle"."messages" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."messages"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."messages"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
		GRANT SELECT, INSERT, DELETE ON "heddle"."messages" TO heddle_app;
		REVOKE UPDATE ON "heddle"."messages" FROM heddle_app;
	END IF;
END $$;

-- Made by drizzle-kit from src/schema.
ALTER TABLE "heddle"."messages" DROP CONSTRAINT "messages_id";
ALTER TABLE "heddle"."messages" ALTER COLUMN "latest_at" DROP NOT NULL;
CREATE INDEX "events_stored" ON "heddle"."events" USING btree ("thread_id") WHERE topic = 'message.stored';

-- From here on by hand: indexes of messages are written once and never updated: no room is left in a page that is full.
-- Those of a table that was partitioned by hand are left as they are.
DO $$
DECLARE
	name_of_index name;
BEGIN
	FOR name_of_index IN
		SELECT relname FROM pg_catalog.pg_index JOIN pg_catalog.pg_class ON pg_class.oid = indexrelid
		WHERE indrelid = 'heddle.messages'::regclass AND relkind = 'i' AND indpred IS NULL
	LOOP
		EXECUTE format('ALTER INDEX heddle.%I SET (fillfactor = 100)', name_of_index);
	END LOOP;
END $$;

-- The short code of a message's id, as `shortCode` in core makes it: 40 bits of a hash in base 32. In its language for the sake of
-- speed: one that the planner could write into a query would be no part of any index condition under row-level security.
CREATE FUNCTION heddle.message_code(id uuid) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = ''
AS $$
DECLARE
	alphabet constant text := '0123456789abcdefghjkmnpqrstvwxyz';
	bits bigint := ('x' || left(encode(sha256(id::text::bytea), 'hex'), 10))::bit(40)::bigint;
BEGIN
	RETURN substr(alphabet, (bits >> 35 & 31)::integer + 1, 1) || substr(alphabet, (bits >> 30 & 31)::integer + 1, 1)
		|| substr(alphabet, (bits >> 25 & 31)::integer + 1, 1) || substr(alphabet, (bits >> 20 & 31)::integer + 1, 1)
		|| substr(alphabet, (bits >> 15 & 31)::integer + 1, 1) || substr(alphabet, (bits >> 10 & 31)::integer + 1, 1)
		|| substr(alphabet, (bits >> 5 & 31)::integer + 1, 1) || substr(alphabet, (bits & 31)::integer + 1, 1);
END $$;

-- The upkeep of tables whose rows come and go.
CREATE POLICY owner_reads_all ON heddle.message_tokens FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.posting_blocks FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.posting_segments FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.vectors FOR SELECT TO CURRENT_USER USING (true);

-- Gives the space of rows that are gone back to the disk: a vacuum frees it for other rows, but leaves indexes as large as they
-- ever were, and a table whose last page is in use. A table that is a third larger than its rows and indexes need is written anew;
-- of messages, whose rows stay, only indexes are whose pages are half empty, since many threads grew at once. A table is locked
-- meanwhile, some 10 ms for each megabyte: so it is done up to a size, and only where nothing was written since the last look.
--
-- `writes` counts what was written to the table so far, as the server's statistics know it; `writes_before` is what the last look
-- returned, -1 for the first. `is_shrunk` is null where the table was in use. Works as the owner of the tables: nobody else may rewrite them.
CREATE FUNCTION heddle.shrink_table(table_name text, writes_before bigint, bytes_min bigint, bytes_max bigint)
RETURNS TABLE (writes bigint, is_shrunk boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' SET lock_timeout = '50ms'
AS $$
DECLARE
	place regclass;
	index_of record;
	row_count bigint;
	row_bytes bigint;
	index_bytes bigint;
BEGIN
	IF table_name NOT IN ('messages', 'message_tokens', 'posting_blocks', 'posting_segments', 'vectors', 'events', 'stage_cursors') THEN
		RAISE EXCEPTION 'heddle.% is no table that is shrunk', table_name;
	END IF;
	place := format('heddle.%I', table_name)::regclass;
	writes := pg_stat_get_tuples_inserted(place) + pg_stat_get_tuples_updated(place) + pg_stat_get_tuples_deleted(place);
	is_shrunk := false;
	IF writes = writes_before AND (SELECT relkind = 'r' FROM pg_catalog.pg_class WHERE oid = place) THEN
		IF table_name = 'messages' THEN
			row_count := pg_stat_get_live_tuples(place);
			FOR index_of IN
				SELECT
					indexrelid::regclass AS name, pg_relation_size(indexrelid) AS bytes,
					-- An entry is a header of 8 bytes, its columns filled up to whole words, and 4 bytes that point to it.
					(SELECT ceil((8 + sum(CASE WHEN attlen > 0 THEN attlen ELSE 9 END)) / 8.0) * 8 + 4
						FROM pg_catalog.pg_attribute WHERE attrelid = indexrelid) AS entry_bytes
				FROM pg_catalog.pg_index WHERE indrelid = place AND indpred IS NULL
			LOOP
				CONTINUE WHEN index_of.bytes NOT BETWEEN bytes_min AND bytes_max / 4;
				-- Full pages, and a quarter more.
				CONTINUE WHEN index_of.bytes < 1.25 * row_count * index_of.entry_bytes;
				EXECUTE format('REINDEX INDEX %s', index_of.name);
				is_shrunk := true;
			END LOOP;
		ELSIF pg_total_relation_size(place) BETWEEN bytes_min AND bytes_max THEN
			EXECUTE format('SELECT count(*), coalesce(sum(pg_column_size(one.*)), 0) FROM heddle.%I AS one', table_name)
				INTO row_count, row_bytes;
			SELECT count(*) * (16384 + row_count * 48) INTO index_bytes FROM pg_catalog.pg_index WHERE indrelid = place;
			IF pg_total_relation_size(place) > 1.3 * (row_bytes + row_count * 4 + index_bytes) THEN
				EXECUTE format('CLUSTER %s USING %I', place, (
					SELECT relname FROM pg_catalog.pg_index JOIN pg_catalog.pg_class ON pg_class.oid = indexrelid
					WHERE indrelid = place AND indisprimary));
				is_shrunk := true;
			END IF;
		END IF;
	END IF;
	RETURN NEXT;
EXCEPTION
	WHEN lock_not_available THEN
		is_shrunk := NULL;
		RETURN NEXT;
END $$;

REVOKE ALL ON FUNCTION heddle.shrink_table, heddle.message_code FROM PUBLIC;
GRANT EXECUTE ON FUNCTION heddle.shrink_table, heddle.message_code TO heddle_app;
