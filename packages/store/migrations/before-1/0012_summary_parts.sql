CREATE TABLE "heddle"."summary_leaves" (
	"thread_id" uuid NOT NULL,
	"state_id" uuid NOT NULL,
	"place" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"hash" "bytea" NOT NULL,
	"end_at" timestamp (3) with time zone NOT NULL,
	"end_ordinal" integer NOT NULL,
	"end_id" uuid NOT NULL,
	CONSTRAINT "summary_leaves_thread_id_state_id_place_pk" PRIMARY KEY("thread_id","state_id","place")
);
--> statement-breakpoint
ALTER TABLE "heddle"."summary_leaves" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."summary_parts" (
	"thread_id" uuid NOT NULL,
	"hash" "bytea" NOT NULL,
	"summarizer" text NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"summary" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "summary_parts_thread_id_hash_summarizer_pk" PRIMARY KEY("thread_id","hash","summarizer")
);
--> statement-breakpoint
ALTER TABLE "heddle"."summary_parts" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."summary_leaves" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."summary_leaves"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."summary_leaves"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."summary_parts" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."summary_parts"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."summary_parts"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
ALTER TABLE "heddle"."summary_leaves" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."summary_parts" FORCE ROW LEVEL SECURITY;