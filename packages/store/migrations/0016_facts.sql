CREATE TABLE "heddle"."facts" (
	"agent_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"thread_id" uuid,
	"subject" text NOT NULL,
	"subject_key" text NOT NULL,
	"predicate" text NOT NULL,
	"object" text NOT NULL,
	"kind" text NOT NULL,
	"is_negated" boolean NOT NULL,
	"is_single" boolean NOT NULL,
	"statement" text NOT NULL,
	"valid_from" timestamp (3) with time zone NOT NULL,
	"valid_to" timestamp (3) with time zone,
	"recorded_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"sources" uuid[] DEFAULT '{}' NOT NULL,
	"extractor" text,
	"confidence" real NOT NULL,
	"origin" text NOT NULL,
	"corrected_by" uuid,
	"retracted_at" timestamp (3) with time zone,
	CONSTRAINT "facts_agent_id_id_pk" PRIMARY KEY("agent_id","id")
);

ALTER TABLE "heddle"."facts" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "heddle"."facts" ADD CONSTRAINT "facts_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."facts" ADD CONSTRAINT "facts_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "facts_recorded" ON "heddle"."facts" USING btree ("agent_id","recorded_at","id");
CREATE INDEX "facts_subject" ON "heddle"."facts" USING btree ("agent_id","subject_key","predicate","recorded_at","id");
CREATE INDEX "facts_thread" ON "heddle"."facts" USING btree ("thread_id","recorded_at","id");
CREATE POLICY "own_project_only" ON "heddle"."facts" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."facts"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."facts"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
-- By hand from here on: rights (packages/store/README.md).
ALTER TABLE heddle.facts FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON heddle.facts TO heddle_app;
