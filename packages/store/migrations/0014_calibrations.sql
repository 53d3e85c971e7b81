CREATE TABLE "heddle"."calibrations" (
	"agent_id" uuid NOT NULL,
	"model" text NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"provider" text NOT NULL,
	"ratio" double precision NOT NULL,
	"offset" integer NOT NULL,
	"margin" double precision NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"learnt_ratio" double precision NOT NULL,
	"learnt_offset" integer NOT NULL,
	"learnt_margin" double precision NOT NULL,
	"samples" integer NOT NULL,
	"kinds" json DEFAULT '{}'::json NOT NULL,
	"learnt_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "calibrations_agent_id_model_pk" PRIMARY KEY("agent_id","model")
);

ALTER TABLE "heddle"."calibrations" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "heddle"."calibrations" ADD CONSTRAINT "calibrations_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;
CREATE POLICY "own_project_only" ON "heddle"."calibrations" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."calibrations"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."calibrations"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
-- By hand from here on: rights (packages/store/README.md).
ALTER TABLE heddle.calibrations FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON heddle.calibrations TO heddle_app;
