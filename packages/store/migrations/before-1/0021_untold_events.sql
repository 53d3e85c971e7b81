CREATE INDEX "snapshots_saved" ON "heddle"."snapshots" USING btree ("created_at") WHERE status = 'saved';--> statement-breakpoint
CREATE INDEX "events_subject" ON "heddle"."events" USING btree ("subject_id") WHERE subject_id is not null;--> statement-breakpoint
-- Contexts and snapshots that were asked for after a time and made before another, and of which no event tells: their process
-- ended in the moment between. Each is one look-up in `events_subject`.
CREATE FUNCTION heddle.untold_events(max_rows integer, asked_after timestamptz, made_before timestamptz)
RETURNS TABLE (project_id uuid, topic text, thread_id uuid, subject_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 10
AS $$
	(SELECT contexts.project_id, 'context.built', contexts.thread_id, contexts.id
	FROM heddle.contexts
	WHERE contexts.status <> 'requested' AND contexts.status = 'built'
		AND contexts.requested_at > asked_after AND contexts.requested_at <= made_before AND contexts.built_at <= made_before
		AND NOT EXISTS (
			SELECT FROM heddle.events WHERE events.subject_id = contexts.id AND events.topic = 'context.built')
	ORDER BY contexts.requested_at
	LIMIT max_rows)
	UNION ALL
	(SELECT snapshots.project_id, 'snapshot.saved', NULL, snapshots.id
	FROM heddle.snapshots
	WHERE snapshots.status = 'saved' AND snapshots.created_at > asked_after AND snapshots.created_at <= made_before
		AND NOT EXISTS (
			SELECT FROM heddle.events WHERE events.subject_id = snapshots.id AND events.topic = 'snapshot.saved')
	ORDER BY snapshots.created_at
	LIMIT max_rows)
$$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION heddle.untold_events FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION heddle.untold_events TO heddle_app;
