CREATE TABLE "heddle"."summary_calls" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"summary_id" uuid NOT NULL,
	"purpose" text NOT NULL,
	"provider" text NOT NULL,
	"model" text NOT NULL,
	"outcome" text NOT NULL,
	"error_code" text,
	"input_tokens" integer,
	"output_tokens" integer,
	"cost_usd" double precision,
	"duration_ms" integer NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "heddle"."summary_calls" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE INDEX "summary_calls_thread" ON "heddle"."summary_calls" USING btree ("thread_id","created_at");--> statement-breakpoint
CREATE INDEX "summary_calls_created" ON "heddle"."summary_calls" USING btree ("created_at");--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."summary_calls" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."summary_calls"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."summary_calls"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
ALTER TABLE "heddle"."summary_calls" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
-- For the function below, which runs as the owner and looks across projects, for ids alone.
CREATE POLICY "owner_reads_all" ON "heddle"."summary_calls" FOR SELECT TO CURRENT_USER USING (true);--> statement-breakpoint
-- Calls for summaries that were made before a time, oldest first.
CREATE FUNCTION heddle.expired_summary_calls(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT summary_calls.project_id, summary_calls.id
	FROM heddle.summary_calls
	WHERE summary_calls.created_at < before
	ORDER BY summary_calls.created_at
	LIMIT max_rows
$$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION heddle.expired_summary_calls FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION heddle.expired_summary_calls TO heddle_app;
