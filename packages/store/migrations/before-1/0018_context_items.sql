CREATE TABLE "heddle"."context_items" (
	"context_id" uuid NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"built_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"item_ids" uuid[] NOT NULL,
	"versions" integer[] NOT NULL,
	"modes" text[] NOT NULL,
	"scores" real[] NOT NULL,
	"tokens" integer[] NOT NULL,
	"answered_seq" bigint,
	"used_ids" uuid[] DEFAULT '{}' NOT NULL,
	CONSTRAINT "context_items_context_id_pk" PRIMARY KEY("context_id")
);
--> statement-breakpoint
ALTER TABLE "heddle"."context_items" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE INDEX "context_items_newest" ON "heddle"."context_items" USING btree ("agent_id","built_at");--> statement-breakpoint
CREATE INDEX "context_items_answers" ON "heddle"."context_items" USING btree ("thread_id","answered_seq");--> statement-breakpoint
CREATE INDEX "context_items_built" ON "heddle"."context_items" USING btree ("built_at","project_id");--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."context_items" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."context_items"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."context_items"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
ALTER TABLE "heddle"."context_items" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
-- What is counted of the items of contexts that were built before a time, oldest first.
CREATE FUNCTION heddle.expired_context_items(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT context_items.project_id, context_items.context_id
	FROM heddle.context_items
	WHERE context_items.built_at < before
	ORDER BY context_items.built_at
	LIMIT max_rows
$$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION heddle.expired_context_items FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION heddle.expired_context_items TO heddle_app;
