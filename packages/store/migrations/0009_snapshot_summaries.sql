CREATE INDEX "snapshots_unsummarized" ON "heddle"."snapshots" USING btree ("created_at") WHERE needs_summary;
-- By hand from here on: the function that looks across projects (packages/store/README.md).
-- Saved snapshots whose summary was removed with erased messages, oldest first.
CREATE FUNCTION heddle.snapshots_without_summary(max_rows integer)
RETURNS TABLE (project_id uuid, snapshot_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 10
AS $$
	SELECT snapshots.project_id, snapshots.id
	FROM heddle.snapshots
	WHERE snapshots.needs_summary AND snapshots.status = 'saved'
	ORDER BY snapshots.created_at
	LIMIT max_rows
$$;
REVOKE ALL ON FUNCTION heddle.snapshots_without_summary FROM PUBLIC;
GRANT EXECUTE ON FUNCTION heddle.snapshots_without_summary TO heddle_app;
