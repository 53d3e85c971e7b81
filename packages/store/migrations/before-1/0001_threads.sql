CREATE TABLE "heddle"."running_processes" (
	"thread_id" uuid NOT NULL,
	"name" text NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"version" integer NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "running_processes_thread_id_name_pk" PRIMARY KEY("thread_id","name")
);
--> statement-breakpoint
ALTER TABLE "heddle"."running_processes" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."iterations" ADD COLUMN "texts_escaped" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."iterations" ADD COLUMN "file_events" json DEFAULT '[]'::json NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."iterations" ADD COLUMN "fingerprint" "bytea" NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."thread_versions" ADD COLUMN "settings" json DEFAULT '{}'::json NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."thread_versions" ADD COLUMN "loop" json;--> statement-breakpoint
ALTER TABLE "heddle"."threads" ADD COLUMN "active_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "heddle"."running_processes" ADD CONSTRAINT "running_processes_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "running_processes_newest" ON "heddle"."running_processes" USING btree ("thread_id","updated_at" DESC NULLS LAST,"name");--> statement-breakpoint
CREATE INDEX "threads_active" ON "heddle"."threads" USING btree ("agent_id","active_at" DESC NULLS LAST,"id") WHERE active_at is not null;--> statement-breakpoint
ALTER TABLE "heddle"."threads" DROP COLUMN "settings";--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."running_processes" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."running_processes"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."running_processes"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
ALTER TABLE "heddle"."running_processes" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
-- What was told about a process can be shown later, as with threads.
REVOKE UPDATE ON heddle.processes FROM heddle_app;
