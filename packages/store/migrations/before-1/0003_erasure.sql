CREATE TABLE "heddle"."context_mentions" (
	"thread_id" uuid NOT NULL,
	"context_id" uuid NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	CONSTRAINT "context_mentions_thread_id_context_id_pk" PRIMARY KEY("thread_id","context_id")
);
--> statement-breakpoint
ALTER TABLE "heddle"."context_mentions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."context_states" ADD COLUMN "voided_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "heddle"."snapshots" ADD COLUMN "thread_ids" uuid[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."snapshots" ADD COLUMN "needs_summary" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."dead_letters" ADD COLUMN "agent_id" uuid;--> statement-breakpoint
ALTER TABLE "heddle"."tombstones" ADD COLUMN "agent_id" uuid;--> statement-breakpoint
ALTER TABLE "heddle"."tombstones" ADD COLUMN "finished_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "heddle"."tombstones" ADD COLUMN "removed" json DEFAULT '{}'::json NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."context_mentions" ADD CONSTRAINT "context_mentions_context_id_contexts_id_fk" FOREIGN KEY ("context_id") REFERENCES "heddle"."contexts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "context_mentions_context" ON "heddle"."context_mentions" USING btree ("context_id");--> statement-breakpoint
ALTER TABLE "heddle"."thread_items" ADD CONSTRAINT "thread_items_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heddle"."iterations" ADD CONSTRAINT "iterations_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "context_states_void" ON "heddle"."context_states" USING btree ("thread_id") WHERE status = 'void';--> statement-breakpoint
CREATE INDEX "context_states_voided" ON "heddle"."context_states" USING btree ("voided_at") WHERE status = 'void';--> statement-breakpoint
CREATE INDEX "contexts_answered" ON "heddle"."contexts" USING btree ("requested_at","project_id") WHERE status <> 'requested';--> statement-breakpoint
CREATE INDEX "dead_letters_redriven" ON "heddle"."dead_letters" USING btree ("redriven_at") WHERE redriven_at is not null;--> statement-breakpoint
CREATE INDEX "dead_letters_thread" ON "heddle"."dead_letters" USING btree ("thread_id") WHERE thread_id is not null;--> statement-breakpoint
CREATE INDEX "dead_letters_agent" ON "heddle"."dead_letters" USING btree ("agent_id") WHERE agent_id is not null;--> statement-breakpoint
CREATE INDEX "events_thread" ON "heddle"."events" USING btree ("thread_id");--> statement-breakpoint
CREATE INDEX "tombstones_unfinished" ON "heddle"."tombstones" USING btree ("created_at") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "tombstones_finished" ON "heddle"."tombstones" USING btree ("finished_at") WHERE finished_at is not null;--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."context_mentions" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."context_mentions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."context_mentions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
ALTER TABLE "heddle"."context_mentions" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
-- Row-level security binds the owner, too: for this one statement it does not.
ALTER TABLE "heddle"."context_states" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
UPDATE "heddle"."context_states" SET "voided_at" = "created_at" WHERE "status" = 'void';--> statement-breakpoint
ALTER TABLE "heddle"."context_states" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
-- The functions below run as the owner and look across projects, for ids alone: what they name is removed by transactions
-- of its own project.
CREATE POLICY "owner_reads_all" ON "heddle"."projects" FOR SELECT TO CURRENT_USER USING (true);--> statement-breakpoint
CREATE POLICY "owner_reads_all" ON "heddle"."events" FOR SELECT TO CURRENT_USER USING (true);--> statement-breakpoint
CREATE POLICY "owner_reads_all" ON "heddle"."dead_letters" FOR SELECT TO CURRENT_USER USING (true);--> statement-breakpoint
CREATE POLICY "owner_reads_all" ON "heddle"."tombstones" FOR SELECT TO CURRENT_USER USING (true);--> statement-breakpoint
-- Erasures that began before a time and are not finished, oldest first.
CREATE FUNCTION heddle.unfinished_erasures(max_rows integer, begun_before timestamptz)
RETURNS TABLE (project_id uuid, target_id uuid, kind text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT tombstones.project_id, tombstones.target_id, tombstones.kind
	FROM heddle.tombstones
	WHERE tombstones.finished_at IS NULL AND tombstones.created_at <= begun_before
	ORDER BY tombstones.created_at
	LIMIT max_rows
$$;
--> statement-breakpoint
-- Contexts that were requested before a time and are built or failed, oldest first.
CREATE FUNCTION heddle.expired_contexts(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT contexts.project_id, contexts.id
	FROM heddle.contexts
	WHERE contexts.status <> 'requested' AND contexts.requested_at < before
	ORDER BY contexts.requested_at
	LIMIT max_rows
$$;
--> statement-breakpoint
-- Compactions that became void before a time, oldest first.
CREATE FUNCTION heddle.expired_void_states(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT states.project_id, states.id
	FROM heddle.context_states AS states
	WHERE states.status = 'void' AND states.voided_at < before
	ORDER BY states.voided_at
	LIMIT max_rows
$$;
--> statement-breakpoint
-- Dead letters that were sent again before a time, oldest first.
CREATE FUNCTION heddle.expired_dead_letters(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT dead_letters.project_id, dead_letters.id
	FROM heddle.dead_letters
	WHERE dead_letters.redriven_at < before AND dead_letters.redriven_at IS NOT NULL
	ORDER BY dead_letters.redriven_at
	LIMIT max_rows
$$;
--> statement-breakpoint
-- Tombstones of erasures that were finished before a time, oldest first.
CREATE FUNCTION heddle.expired_tombstones(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT tombstones.project_id, tombstones.target_id
	FROM heddle.tombstones
	WHERE tombstones.finished_at < before AND tombstones.finished_at IS NOT NULL
	ORDER BY tombstones.finished_at
	LIMIT max_rows
$$;
--> statement-breakpoint
-- Projects whose oldest event is older than a time: numbers rise with time, so one look at each log tells.
CREATE FUNCTION heddle.projects_with_expired_events(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT projects.project_id
	FROM heddle.projects
	CROSS JOIN LATERAL (
		SELECT events.created_at FROM heddle.events
		WHERE events.project_id = projects.project_id
		ORDER BY events.number
		LIMIT 1
	) AS oldest
	WHERE oldest.created_at < before
	LIMIT max_rows
$$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION heddle.unfinished_erasures, heddle.expired_contexts, heddle.expired_void_states,
	heddle.expired_dead_letters, heddle.expired_tombstones, heddle.projects_with_expired_events FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION heddle.unfinished_erasures, heddle.expired_contexts, heddle.expired_void_states,
	heddle.expired_dead_letters, heddle.expired_tombstones, heddle.projects_with_expired_events TO heddle_app;
