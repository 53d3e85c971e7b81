CREATE TABLE "heddle"."posting_blocks" (
	"segment" bigint NOT NULL,
	"first_term" text collate "C" NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"postings" "bytea" NOT NULL,
	CONSTRAINT "posting_blocks_segment_first_term_pk" PRIMARY KEY("segment","first_term")
);
--> statement-breakpoint
ALTER TABLE "heddle"."posting_blocks" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."posting_segments" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "heddle"."posting_segments_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"level" integer NOT NULL,
	"documents" integer NOT NULL,
	"length" bigint NOT NULL,
	"threads" bigint[] NOT NULL
);
--> statement-breakpoint
ALTER TABLE "heddle"."posting_segments" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."posting_threads" (
	"thread_id" uuid PRIMARY KEY NOT NULL,
	"number" bigint GENERATED ALWAYS AS IDENTITY (sequence name "heddle"."posting_threads_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"to_seq" bigint DEFAULT 0 NOT NULL,
	"documents" integer DEFAULT 0 NOT NULL,
	"length" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "posting_threads_number_unique" UNIQUE("number")
);
--> statement-breakpoint
ALTER TABLE "heddle"."posting_threads" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."posting_blocks" ADD CONSTRAINT "posting_blocks_segment_posting_segments_number_fk" FOREIGN KEY ("segment") REFERENCES "heddle"."posting_segments"("number") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "posting_segments_scope" ON "heddle"."posting_segments" USING btree ("project_id","agent_id","level");--> statement-breakpoint
CREATE INDEX "posting_threads_agent" ON "heddle"."posting_threads" USING btree ("agent_id");--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."posting_blocks" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."posting_blocks"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."posting_blocks"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."posting_segments" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."posting_segments"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."posting_segments"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."posting_threads" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."posting_threads"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."posting_threads"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
ALTER TABLE "heddle"."posting_blocks" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."posting_segments" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."posting_threads" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
-- Blocks are compressed already, and fill their pages where they stand.
ALTER TABLE "heddle"."posting_blocks" ALTER COLUMN "postings" SET STORAGE EXTERNAL;--> statement-breakpoint
-- Messages that were embedded before are met again for their words; vectors that are there stay.
ALTER TABLE "heddle"."stage_cursors" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
UPDATE "heddle"."stage_cursors" SET "embed_seq" = 0 WHERE "embed_seq" > 0;--> statement-breakpoint
ALTER TABLE "heddle"."stage_cursors" FORCE ROW LEVEL SECURITY;
