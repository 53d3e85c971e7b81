CREATE TABLE "heddle"."proxied_conversations" (
	"thread_id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"thread" text NOT NULL,
	"chain" text,
	"session" text,
	"begin" text,
	"instructions" text,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"stubs" json NOT NULL,
	"texts" json,
	"used_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);

ALTER TABLE "heddle"."proxied_conversations" ENABLE ROW LEVEL SECURITY;
CREATE INDEX "proxied_conversations_chain" ON "heddle"."proxied_conversations" USING btree ("project_id","chain") WHERE chain is not null;
CREATE INDEX "proxied_conversations_session" ON "heddle"."proxied_conversations" USING btree ("project_id","session") WHERE session is not null;
CREATE INDEX "proxied_conversations_used" ON "heddle"."proxied_conversations" USING btree ("used_at");
CREATE POLICY "own_project_only" ON "heddle"."proxied_conversations" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."proxied_conversations"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."proxied_conversations"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
-- By hand from here on: rights, and the function that looks across projects (packages/store/README.md).
ALTER TABLE heddle.proxied_conversations FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON heddle.proxied_conversations TO heddle_app;
CREATE POLICY owner_reads_all ON heddle.proxied_conversations FOR SELECT TO CURRENT_USER USING (true);

-- Conversations that were last used before a time, oldest first.
CREATE FUNCTION heddle.expired_proxied_conversations(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT proxied_conversations.project_id, proxied_conversations.thread_id
	FROM heddle.proxied_conversations
	WHERE proxied_conversations.used_at < before
	ORDER BY proxied_conversations.used_at
	LIMIT max_rows
$$;
REVOKE ALL ON FUNCTION heddle.expired_proxied_conversations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION heddle.expired_proxied_conversations TO heddle_app;
