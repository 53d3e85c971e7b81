DROP INDEX "heddle"."stage_cursors_lagging";
ALTER TABLE "heddle"."stage_cursors" ADD COLUMN "remember_seq" bigint;
CREATE INDEX "stage_cursors_lagging" ON "heddle"."stage_cursors" USING btree ("retry_at","last_message_at") WHERE prune_seq < head_seq or summarize_seq < head_seq or embed_seq < head_seq or remember_seq < head_seq;
-- By hand from here on: a further stage.
CREATE OR REPLACE FUNCTION heddle.lagging_threads(max_rows integer, at_time timestamptz)
RETURNS TABLE (project_id uuid, thread_id uuid, stage text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT lagging.project_id, lagging.thread_id, behind.stage
	FROM (
		(SELECT * FROM heddle.stage_cursors
		WHERE retry_at IS NULL
			AND (prune_seq < head_seq OR summarize_seq < head_seq OR embed_seq < head_seq OR remember_seq < head_seq)
		ORDER BY last_message_at
		LIMIT max_rows)
		UNION ALL
		(SELECT * FROM heddle.stage_cursors
		WHERE retry_at <= at_time
			AND (prune_seq < head_seq OR summarize_seq < head_seq OR embed_seq < head_seq OR remember_seq < head_seq)
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
			(CASE WHEN lagging.embed_seq < lagging.head_seq THEN 'embed' END),
			(CASE WHEN lagging.remember_seq < lagging.head_seq THEN 'remember' END)
	) AS behind (stage)
	WHERE behind.stage IS NOT NULL
$$;
