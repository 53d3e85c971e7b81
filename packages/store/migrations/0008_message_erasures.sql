CREATE TABLE "heddle"."message_erasures" (
	"thread_id" uuid NOT NULL,
	"message_id" uuid NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"seq" bigint NOT NULL,
	"erasure_id" uuid NOT NULL,
	"source_hash" "bytea",
	CONSTRAINT "message_erasures_thread_id_message_id_pk" PRIMARY KEY("thread_id","message_id")
);

ALTER TABLE "heddle"."message_erasures" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "heddle"."tombstones" ADD COLUMN "thread_id" uuid;
ALTER TABLE "heddle"."stage_cursors" ADD COLUMN "erased_count" integer DEFAULT 0 NOT NULL;
ALTER TABLE "heddle"."vector_threads" ADD COLUMN "erased_count" integer DEFAULT 0 NOT NULL;
CREATE INDEX "message_erasures_erasure" ON "heddle"."message_erasures" USING btree ("erasure_id");
CREATE INDEX "message_erasures_source" ON "heddle"."message_erasures" USING btree ("thread_id","source_hash") WHERE source_hash is not null;
CREATE POLICY "own_project_only" ON "heddle"."message_erasures" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."message_erasures"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."message_erasures"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
-- By hand from here on: rights (packages/store/README.md).
ALTER TABLE heddle.message_erasures FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON heddle.message_erasures TO heddle_app;
REVOKE UPDATE ON heddle.message_erasures FROM heddle_app;
CREATE POLICY owner_reads_all ON heddle.message_erasures FOR SELECT TO CURRENT_USER USING (true);
