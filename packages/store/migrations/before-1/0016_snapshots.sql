DROP INDEX "heddle"."snapshots_history";--> statement-breakpoint
ALTER TABLE "heddle"."snapshots" ALTER COLUMN "summary" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."snapshots" ALTER COLUMN "message_count" SET DEFAULT 0;--> statement-breakpoint
ALTER TABLE "heddle"."snapshots" ALTER COLUMN "window_end" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."snapshots" ALTER COLUMN "content" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."snapshots" ADD COLUMN "status" text DEFAULT 'saved' NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."snapshots" ADD COLUMN "deadline_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "heddle"."snapshots" ADD COLUMN "error" json;--> statement-breakpoint
ALTER TABLE "heddle"."snapshots" ADD COLUMN "summary_error" text;--> statement-breakpoint
ALTER TABLE "heddle"."snapshots" ADD COLUMN "stored_in" text DEFAULT 'postgres' NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."snapshots" ADD COLUMN "restored_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "snapshots_of_agent" ON "heddle"."snapshots" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "snapshots_requested" ON "heddle"."snapshots" USING btree ("created_at") WHERE status = 'requested';--> statement-breakpoint
CREATE INDEX "snapshots_history" ON "heddle"."snapshots" USING btree ("agent_id","created_at","id") WHERE status = 'saved';--> statement-breakpoint
-- Snapshots that were requested before a time and that nobody has saved or failed yet.
CREATE FUNCTION heddle.requested_snapshots(max_rows integer, requested_before timestamptz)
RETURNS TABLE (project_id uuid, snapshot_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT snapshots.project_id, snapshots.id
	FROM heddle.snapshots
	WHERE snapshots.status = 'requested' AND snapshots.created_at <= requested_before
	ORDER BY snapshots.created_at
	LIMIT max_rows
$$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION heddle.requested_snapshots FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION heddle.requested_snapshots TO heddle_app;
