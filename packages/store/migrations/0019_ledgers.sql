CREATE TABLE "heddle"."fact_scopes" (
	"scope_id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"thread_id" uuid,
	"changes" bigint NOT NULL
);

ALTER TABLE "heddle"."fact_scopes" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "heddle"."context_states" ADD COLUMN "ledger" json;
ALTER TABLE "heddle"."fact_scopes" ADD CONSTRAINT "fact_scopes_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."fact_scopes" ADD CONSTRAINT "fact_scopes_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "fact_scopes_agent" ON "heddle"."fact_scopes" USING btree ("agent_id");
CREATE INDEX "fact_scopes_thread" ON "heddle"."fact_scopes" USING btree ("thread_id") WHERE thread_id is not null;
CREATE INDEX "facts_of_agent" ON "heddle"."facts" USING btree ("agent_id","recorded_at","id") WHERE thread_id is null;
CREATE POLICY "own_project_only" ON "heddle"."fact_scopes" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."fact_scopes"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."fact_scopes"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
-- By hand from here on: rights (packages/store/README.md).
ALTER TABLE heddle.fact_scopes FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON heddle.fact_scopes TO heddle_app;
