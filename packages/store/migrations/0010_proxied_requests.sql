CREATE TABLE "heddle"."proxied_requests" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"thread" text NOT NULL,
	"upstream" text NOT NULL,
	"protocol" text NOT NULL,
	"model" text NOT NULL,
	"mode" text NOT NULL,
	"is_control" boolean NOT NULL,
	"epoch" integer NOT NULL,
	"reasons" text[] NOT NULL,
	"passed" text,
	"entries" integer NOT NULL,
	"stubs" integer NOT NULL,
	"covered_entries" integer NOT NULL,
	"tokens_received" integer NOT NULL,
	"tokens_sent" integer NOT NULL,
	"tokens_cached" integer NOT NULL,
	"input_tokens" integer,
	"cache_read_tokens" integer,
	"cache_write_tokens" integer,
	"output_tokens" integer,
	"cost_usd" double precision,
	"direct_cost_usd" double precision,
	"status" integer NOT NULL,
	"added_ms" double precision NOT NULL,
	"first_byte_ms" double precision,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);

ALTER TABLE "heddle"."proxied_requests" ENABLE ROW LEVEL SECURITY;
CREATE INDEX "proxied_requests_thread" ON "heddle"."proxied_requests" USING btree ("thread_id","created_at","id");
CREATE INDEX "proxied_requests_project" ON "heddle"."proxied_requests" USING btree ("project_id","created_at","id");
CREATE INDEX "proxied_requests_created" ON "heddle"."proxied_requests" USING btree ("created_at");
CREATE POLICY "own_project_only" ON "heddle"."proxied_requests" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."proxied_requests"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."proxied_requests"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
-- By hand from here on: rights, and the function that looks across projects (packages/store/README.md).
ALTER TABLE heddle.proxied_requests FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON heddle.proxied_requests TO heddle_app;
CREATE POLICY owner_reads_all ON heddle.proxied_requests FOR SELECT TO CURRENT_USER USING (true);

-- Requests to providers that were relayed before a time, oldest first.
CREATE FUNCTION heddle.expired_proxied_requests(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT proxied_requests.project_id, proxied_requests.id
	FROM heddle.proxied_requests
	WHERE proxied_requests.created_at < before
	ORDER BY proxied_requests.created_at
	LIMIT max_rows
$$;
REVOKE ALL ON FUNCTION heddle.expired_proxied_requests FROM PUBLIC;
GRANT EXECUTE ON FUNCTION heddle.expired_proxied_requests TO heddle_app;
