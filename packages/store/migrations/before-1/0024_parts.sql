CREATE TABLE "heddle"."part_contents" (
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"hash" "bytea" NOT NULL,
	"content" "bytea" NOT NULL,
	"size_bytes" integer NOT NULL,
	"reference_count" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "part_contents_project_id_hash_pk" PRIMARY KEY("project_id","hash")
);
--> statement-breakpoint
ALTER TABLE "heddle"."part_contents" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."messages" ADD COLUMN "parts" json;--> statement-breakpoint
CREATE INDEX "part_contents_unused" ON "heddle"."part_contents" USING btree ("project_id","created_at") WHERE reference_count = 0;--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."part_contents" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."part_contents"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."part_contents"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
ALTER TABLE "heddle"."part_contents" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
-- Images and sounds are compressed by themselves: the server's own compression would only cost time.
ALTER TABLE "heddle"."part_contents" ALTER COLUMN "content" SET STORAGE EXTERNAL;
