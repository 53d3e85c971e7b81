CREATE TABLE "heddle"."progress_summaries" (
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"thread_id" uuid NOT NULL,
	"lane" text NOT NULL,
	"clear_epoch" integer NOT NULL,
	"version" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"kind" text NOT NULL,
	"total" integer NOT NULL,
	"covered_count" integer NOT NULL,
	"covered_from" integer NOT NULL,
	"covered_to" integer NOT NULL,
	"summary" text NOT NULL,
	"summary_tokens" integer NOT NULL,
	"summarizer" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "progress_summaries_thread_id_lane_clear_epoch_version_pk" PRIMARY KEY("thread_id","lane","clear_epoch","version"),
	CONSTRAINT "progress_summaries_id" UNIQUE("id")
);
--> statement-breakpoint
ALTER TABLE "heddle"."progress_summaries" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."stage_cursors" ADD COLUMN "iteration_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."stage_cursors" ADD COLUMN "progress_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."progress_summaries" ADD CONSTRAINT "progress_summaries_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "stage_cursors_progress" ON "heddle"."stage_cursors" USING btree ("retry_at") WHERE progress_count < iteration_count;--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."progress_summaries" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."progress_summaries"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."progress_summaries"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
ALTER TABLE "heddle"."progress_summaries" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
-- Row-level security binds the owner, too: for this one statement it does not.
ALTER TABLE "heddle"."stage_cursors" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."iterations" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
UPDATE "heddle"."stage_cursors" SET "iteration_count" = counted.iterations
FROM (SELECT "thread_id", count(*) AS iterations FROM "heddle"."iterations" GROUP BY "thread_id") AS counted
WHERE counted."thread_id" = "stage_cursors"."thread_id";--> statement-breakpoint
ALTER TABLE "heddle"."iterations" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."stage_cursors" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
-- Threads with iterations that the progress summary does not know of yet, those first that were never left alone.
CREATE FUNCTION heddle.lagging_progress(max_rows integer, at_time timestamptz)
RETURNS TABLE (project_id uuid, thread_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT lagging.project_id, lagging.thread_id
	FROM heddle.stage_cursors AS lagging
	WHERE lagging.progress_count < lagging.iteration_count
		AND (lagging.retry_at IS NULL OR lagging.retry_at <= at_time)
	ORDER BY lagging.retry_at NULLS FIRST
	LIMIT max_rows
$$;
--> statement-breakpoint
REVOKE UPDATE ON heddle.progress_summaries FROM heddle_app;--> statement-breakpoint
REVOKE ALL ON FUNCTION heddle.lagging_progress FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION heddle.lagging_progress TO heddle_app;
