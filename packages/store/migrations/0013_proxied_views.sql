CREATE TABLE "heddle"."proxied_texts" (
	"thread_id" uuid NOT NULL,
	"hash" text NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"kind" text NOT NULL,
	"message_id" uuid,
	"context_id" uuid,
	"text" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "proxied_texts_thread_id_hash_pk" PRIMARY KEY("thread_id","hash")
);

ALTER TABLE "heddle"."proxied_texts" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."proxied_views" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"base_id" uuid,
	"depth" integer NOT NULL,
	"delta" json NOT NULL,
	"bytes_received" integer NOT NULL,
	"bytes_sent" integer NOT NULL,
	"hash_received" "bytea" NOT NULL,
	"hash_sent" "bytea" NOT NULL
);

ALTER TABLE "heddle"."proxied_views" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "heddle"."api_keys" ADD COLUMN "proxy_mode" text;
ALTER TABLE "heddle"."proxied_requests" ADD COLUMN "mode_source" text DEFAULT 'configuration' NOT NULL;
ALTER TABLE "heddle"."proxied_requests" ADD COLUMN "recalls" integer DEFAULT 0 NOT NULL;
ALTER TABLE "heddle"."proxied_requests" ADD COLUMN "recall_cost_usd" double precision;
CREATE INDEX "proxied_views_thread" ON "heddle"."proxied_views" USING btree ("thread_id");
CREATE POLICY "own_project_only" ON "heddle"."proxied_texts" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."proxied_texts"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."proxied_texts"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."proxied_views" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."proxied_views"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."proxied_views"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
-- By hand from here on: rights (packages/store/README.md). Their rows are append-only.
ALTER TABLE heddle.proxied_views FORCE ROW LEVEL SECURITY;
ALTER TABLE heddle.proxied_texts FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON heddle.proxied_views, heddle.proxied_texts TO heddle_app;
REVOKE UPDATE ON heddle.proxied_views, heddle.proxied_texts FROM heddle_app;
