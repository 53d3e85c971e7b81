CREATE TABLE "heddle"."erased_messages" (
	"target_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	CONSTRAINT "erased_messages_target_id_id_pk" PRIMARY KEY("target_id","id")
);
--> statement-breakpoint
ALTER TABLE "heddle"."erased_messages" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."tombstones" ADD COLUMN "reuse" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."tombstones" ADD COLUMN "freed_id" uuid;--> statement-breakpoint
ALTER TABLE "heddle"."tombstones" ADD COLUMN "head_seq" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."stage_cursors" ADD COLUMN "base_seq" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."stage_cursors" ADD COLUMN "erased_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "tombstones_freed" ON "heddle"."tombstones" USING btree ("freed_id") WHERE freed_id is not null;--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."erased_messages" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."erased_messages"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."erased_messages"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
ALTER TABLE "heddle"."erased_messages" FORCE ROW LEVEL SECURITY;
