ALTER TABLE "heddle"."context_items" ADD COLUMN "sections" json;
ALTER TABLE "heddle"."context_items" ADD COLUMN "budget" integer;
ALTER TABLE "heddle"."context_items" ADD COLUMN "tokens_used" integer;
ALTER TABLE "heddle"."context_items" ADD COLUMN "agent_version" integer;
ALTER TABLE "heddle"."contexts" ADD COLUMN "sections" json;
CREATE INDEX "context_items_unanswered" ON "heddle"."context_items" USING btree ("built_at","project_id") WHERE answered_seq is null;
DROP INDEX "heddle"."context_items_built";

-- By hand from here on: the function that looks across projects (packages/store/README.md).

-- Item usage of contexts that were built before a time and that no message answers, oldest first.
CREATE OR REPLACE FUNCTION heddle.expired_context_items(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT context_items.project_id, context_items.context_id
	FROM heddle.context_items
	WHERE context_items.built_at < before AND context_items.answered_seq IS NULL
	ORDER BY context_items.built_at
	LIMIT max_rows
$$;
