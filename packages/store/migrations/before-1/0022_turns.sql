CREATE TABLE "heddle"."turns" (
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"name" text NOT NULL,
	"taken_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "turns_project_id_name_pk" PRIMARY KEY("project_id","name")
);
--> statement-breakpoint
ALTER TABLE "heddle"."turns" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."turns" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."turns"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."turns"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
ALTER TABLE "heddle"."turns" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
-- As before, but: rows are limited by threads, all of whose stages come together; and what a thread waits for until it is
-- summarized is its next stage alone. Where no summary is to be written, that is prune, which says when all is settled.
CREATE OR REPLACE FUNCTION heddle.lagging_threads(max_rows integer, at_time timestamptz)
RETURNS TABLE (project_id uuid, thread_id uuid, stage text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT lagging.project_id, lagging.thread_id, behind.stage
	FROM (
		(SELECT * FROM heddle.stage_cursors
		WHERE retry_at IS NULL AND (prune_seq < head_seq OR summarize_seq < head_seq OR embed_seq < head_seq)
		ORDER BY last_message_at
		LIMIT max_rows)
		UNION ALL
		(SELECT * FROM heddle.stage_cursors
		WHERE retry_at <= at_time AND (prune_seq < head_seq OR summarize_seq < head_seq OR embed_seq < head_seq)
		ORDER BY retry_at
		LIMIT max_rows)
	) AS lagging
	CROSS JOIN LATERAL (
		VALUES
			(CASE
				WHEN lagging.prune_seq < lagging.head_seq THEN 'prune'
				WHEN lagging.summarize_seq >= lagging.head_seq THEN NULL
				WHEN EXISTS (
					SELECT FROM heddle.context_states
					WHERE context_states.thread_id = lagging.thread_id AND context_states.status = 'pending') THEN 'summarize'
				ELSE 'prune'
			END),
			(CASE WHEN lagging.embed_seq < lagging.head_seq THEN 'embed' END)
	) AS behind (stage)
	WHERE behind.stage IS NOT NULL
$$;
