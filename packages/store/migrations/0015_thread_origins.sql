CREATE TABLE "heddle"."thread_origins" (
	"thread_id" uuid NOT NULL,
	"place" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"origin_id" uuid NOT NULL,
	"after_seq" bigint NOT NULL,
	"to_seq" bigint NOT NULL,
	"parent_id" uuid NOT NULL,
	"forked_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "thread_origins_thread_id_place_pk" PRIMARY KEY("thread_id","place")
);

ALTER TABLE "heddle"."thread_origins" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "heddle"."stage_cursors" ADD COLUMN "shared_seq" bigint DEFAULT 0 NOT NULL;
ALTER TABLE "heddle"."thread_origins" ADD CONSTRAINT "thread_origins_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "thread_origins_origin" ON "heddle"."thread_origins" USING btree ("origin_id","thread_id");
CREATE POLICY "own_project_only" ON "heddle"."thread_origins" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."thread_origins"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."thread_origins"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
-- By hand from here on: rights (packages/store/README.md). Its rows are append-only.
ALTER TABLE heddle.thread_origins FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON heddle.thread_origins TO heddle_app;
REVOKE UPDATE ON heddle.thread_origins FROM heddle_app;
