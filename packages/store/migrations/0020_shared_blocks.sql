CREATE TABLE "heddle"."memory_block_grants" (
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"grantee_agent_id" uuid NOT NULL,
	"owner_id" uuid NOT NULL,
	"label" text NOT NULL,
	"version" integer NOT NULL,
	"mode" text,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "memory_block_grants_grantee_agent_id_owner_id_label_version_pk" PRIMARY KEY("grantee_agent_id","owner_id","label","version")
);

ALTER TABLE "heddle"."memory_block_grants" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "heddle"."memory_block_versions" ADD COLUMN "written_by" uuid;
ALTER TABLE "heddle"."memory_block_grants" ADD CONSTRAINT "memory_block_grants_grantee_agent_id_agents_id_fk" FOREIGN KEY ("grantee_agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."memory_block_grants" ADD CONSTRAINT "memory_block_grants_block" FOREIGN KEY ("owner_id","label") REFERENCES "heddle"."memory_blocks"("owner_id","label") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "memory_block_grants_owner" ON "heddle"."memory_block_grants" USING btree ("owner_id","label");
CREATE POLICY "own_project_only" ON "heddle"."memory_block_grants" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."memory_block_grants"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."memory_block_grants"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
-- By hand from here on: rights (packages/store/README.md). The rows are append-only.
ALTER TABLE heddle.memory_block_grants FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON heddle.memory_block_grants TO heddle_app;
REVOKE UPDATE ON heddle.memory_block_grants FROM heddle_app;
