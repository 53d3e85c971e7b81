CREATE TABLE "heddle"."context_deliveries" (
	"context_id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"delivered_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"result" "bytea" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "heddle"."context_deliveries" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."context_lines" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"chain_id" uuid NOT NULL,
	"base_id" uuid,
	"depth" integer NOT NULL,
	"delta" "bytea" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "heddle"."context_lines" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."undone_messages" DROP CONSTRAINT "undone_messages_thread_id_message_id_pk";--> statement-breakpoint
ALTER TABLE "heddle"."undone_messages" ADD CONSTRAINT "undone_messages_thread_id_message_id_undone_at_pk" PRIMARY KEY("thread_id","message_id","undone_at");--> statement-breakpoint
ALTER TABLE "heddle"."contexts" ADD COLUMN "shown_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "heddle"."contexts" ADD COLUMN "hidden" "bytea";--> statement-breakpoint
ALTER TABLE "heddle"."contexts" ADD COLUMN "digest" "bytea";--> statement-breakpoint
ALTER TABLE "heddle"."context_deliveries" ADD CONSTRAINT "context_deliveries_context_id_contexts_id_fk" FOREIGN KEY ("context_id") REFERENCES "heddle"."contexts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "context_deliveries_time" ON "heddle"."context_deliveries" USING btree ("delivered_at","project_id");--> statement-breakpoint
CREATE INDEX "context_lines_chain" ON "heddle"."context_lines" USING btree ("thread_id","chain_id");--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."context_deliveries" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."context_deliveries"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."context_deliveries"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."context_lines" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."context_lines"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."context_lines"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
-- The delivered bytes of contexts that were built before this move to their own table.
ALTER TABLE "heddle"."contexts" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
INSERT INTO "heddle"."context_deliveries" ("context_id", "project_id", "delivered_at", "result")
SELECT "id", "project_id", coalesce("built_at", "requested_at"), "result" FROM "heddle"."contexts" WHERE "result" IS NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."contexts" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."context_deliveries" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."context_lines" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
-- Bytes that were delivered before a time, oldest first. Those that nothing else can give again stay with their context.
CREATE FUNCTION heddle.expired_deliveries(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT context_deliveries.project_id, context_deliveries.context_id
	FROM heddle.context_deliveries
	WHERE context_deliveries.delivered_at < before
		AND EXISTS (SELECT FROM heddle.context_lines WHERE context_lines.id = context_deliveries.context_id)
	ORDER BY context_deliveries.delivered_at
	LIMIT max_rows
$$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION heddle.expired_deliveries FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION heddle.expired_deliveries TO heddle_app;