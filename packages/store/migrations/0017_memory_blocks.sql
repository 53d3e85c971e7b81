CREATE TABLE "heddle"."memory_block_versions" (
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"agent_id" uuid,
	"thread_id" uuid,
	"owner_id" uuid GENERATED ALWAYS AS (coalesce(thread_id, agent_id, project_id)) STORED NOT NULL,
	"label" text NOT NULL,
	"version" integer NOT NULL,
	"description" text NOT NULL,
	"value" text NOT NULL,
	"characters_max" integer NOT NULL,
	"read_only" boolean NOT NULL,
	"removed" boolean DEFAULT false NOT NULL,
	"change" text NOT NULL,
	"request_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "memory_block_versions_owner_id_label_version_pk" PRIMARY KEY("owner_id","label","version"),
	CONSTRAINT "memory_block_versions_request" UNIQUE("owner_id","label","request_id")
);

ALTER TABLE "heddle"."memory_block_versions" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."memory_blocks" (
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"agent_id" uuid,
	"thread_id" uuid,
	"owner_id" uuid GENERATED ALWAYS AS (coalesce(thread_id, agent_id, project_id)) STORED NOT NULL,
	"label" text NOT NULL,
	"version" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "memory_blocks_owner_id_label_pk" PRIMARY KEY("owner_id","label")
);

ALTER TABLE "heddle"."memory_blocks" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "heddle"."memory_block_versions" ADD CONSTRAINT "memory_block_versions_block" FOREIGN KEY ("owner_id","label") REFERENCES "heddle"."memory_blocks"("owner_id","label") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."memory_blocks" ADD CONSTRAINT "memory_blocks_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "heddle"."projects"("project_id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."memory_blocks" ADD CONSTRAINT "memory_blocks_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."memory_blocks" ADD CONSTRAINT "memory_blocks_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "memory_block_versions_thread" ON "heddle"."memory_block_versions" USING btree ("thread_id") WHERE thread_id is not null;
CREATE INDEX "memory_blocks_agent" ON "heddle"."memory_blocks" USING btree ("agent_id") WHERE agent_id is not null;
CREATE INDEX "memory_blocks_thread" ON "heddle"."memory_blocks" USING btree ("thread_id") WHERE thread_id is not null;
CREATE POLICY "own_project_only" ON "heddle"."memory_block_versions" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."memory_block_versions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."memory_block_versions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."memory_blocks" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."memory_blocks"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."memory_blocks"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
-- By hand from here on: rights (packages/store/README.md). The rows of versions are append-only.
ALTER TABLE heddle.memory_blocks FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON heddle.memory_blocks TO heddle_app;
ALTER TABLE heddle.memory_block_versions FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON heddle.memory_block_versions TO heddle_app;
REVOKE UPDATE ON heddle.memory_block_versions FROM heddle_app;
