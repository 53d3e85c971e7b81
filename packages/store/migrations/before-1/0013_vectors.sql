CREATE TABLE "heddle"."item_vectors" (
	"item_id" uuid NOT NULL,
	"model" text NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"content_hash" "bytea" NOT NULL,
	"chunk_hashes" "bytea" NOT NULL,
	"places" "bytea" NOT NULL,
	"embedding" "bytea" NOT NULL,
	CONSTRAINT "item_vectors_item_id_model_pk" PRIMARY KEY("item_id","model")
);
--> statement-breakpoint
ALTER TABLE "heddle"."item_vectors" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."vector_threads" (
	"thread_id" uuid NOT NULL,
	"model" text NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"to_seq" bigint NOT NULL,
	"chunks" integer NOT NULL,
	CONSTRAINT "vector_threads_thread_id_model_pk" PRIMARY KEY("thread_id","model")
);
--> statement-breakpoint
ALTER TABLE "heddle"."vector_threads" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."vectors" (
	"thread_id" uuid NOT NULL,
	"model" text NOT NULL,
	"first_chunk" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"chunks" integer NOT NULL,
	"to_seq" bigint NOT NULL,
	"places" "bytea" NOT NULL,
	"embedding" "bytea" NOT NULL,
	CONSTRAINT "vectors_thread_id_model_first_chunk_pk" PRIMARY KEY("thread_id","model","first_chunk")
);
--> statement-breakpoint
ALTER TABLE "heddle"."vectors" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
DROP POLICY "own_project_only" ON "heddle"."chunks" CASCADE;--> statement-breakpoint
DROP TABLE "heddle"."chunks" CASCADE;--> statement-breakpoint
ALTER TABLE "heddle"."item_vectors" ADD CONSTRAINT "item_vectors_item_id_items_id_fk" FOREIGN KEY ("item_id") REFERENCES "heddle"."items"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "vector_threads_scope" ON "heddle"."vector_threads" USING btree ("agent_id","model");--> statement-breakpoint
CREATE INDEX "vector_threads_model" ON "heddle"."vector_threads" USING btree ("model");--> statement-breakpoint
CREATE INDEX "vectors_small" ON "heddle"."vectors" USING btree ("thread_id","model") WHERE chunks < 16;--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."item_vectors" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."item_vectors"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."item_vectors"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."vector_threads" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."vector_threads"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."vector_threads"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."vectors" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."vectors"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."vectors"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
ALTER TABLE "heddle"."item_vectors" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."vector_threads" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."vectors" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
-- Vectors cannot be compressed: trying costs time at each write.
ALTER TABLE "heddle"."vectors" ALTER COLUMN "embedding" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "heddle"."item_vectors" ALTER COLUMN "embedding" SET STORAGE EXTERNAL;--> statement-breakpoint
-- Threads that have vectors of another model, and not as many of this one: they are embedded again.
CREATE FUNCTION heddle.lagging_vectors(wanted_model text, max_rows integer, at_time timestamptz)
RETURNS TABLE (project_id uuid, thread_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT other.project_id, other.thread_id
	FROM heddle.vector_threads AS other
	JOIN heddle.stage_cursors AS cursor ON cursor.thread_id = other.thread_id
	WHERE (other.model < wanted_model OR other.model > wanted_model)
		AND (cursor.retry_at IS NULL OR cursor.retry_at <= at_time)
		AND NOT EXISTS (
			SELECT FROM heddle.vector_threads AS own
			WHERE own.thread_id = other.thread_id AND own.model = wanted_model AND own.to_seq >= other.to_seq)
	LIMIT max_rows
$$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION heddle.lagging_vectors FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION heddle.lagging_vectors TO heddle_app;--> statement-breakpoint
-- Vectors are kept in another way from now on: threads are embedded anew. Words that are there stay.
ALTER TABLE "heddle"."stage_cursors" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
UPDATE "heddle"."stage_cursors" SET "embed_seq" = 0 WHERE "embed_seq" > 0;--> statement-breakpoint
ALTER TABLE "heddle"."stage_cursors" FORCE ROW LEVEL SECURITY;
