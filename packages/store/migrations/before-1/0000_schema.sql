-- The role as which every service works. Roles belong to the cluster, not to the database: it may be there already, and
-- others may be creating it at this moment.
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'heddle_app' AND (rolsuper OR rolbypassrls)) THEN
		RAISE EXCEPTION 'the role heddle_app could see every project: it is a superuser or bypasses row-level security'
			USING ERRCODE = 'insufficient_privilege', HINT = 'Run as a superuser: alter role heddle_app nosuperuser nobypassrls';
	END IF;
	IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'heddle_app') THEN
		BEGIN
			CREATE ROLE heddle_app NOLOGIN NOSUPERUSER NOBYPASSRLS;
		EXCEPTION
			WHEN duplicate_object OR unique_violation THEN NULL;
			WHEN insufficient_privilege THEN
				RAISE EXCEPTION 'the role heddle_app is missing and % may not create roles', current_user
					USING ERRCODE = 'insufficient_privilege',
						HINT = format('Run as a superuser: create role heddle_app nologin nosuperuser nobypassrls; grant heddle_app to %I', current_user);
		END;
	END IF;
END $$;
--> statement-breakpoint
-- Who migrates usually serves too, and must be able to take the role. From Postgres 16 on, being a member is not enough.
DO $$
DECLARE
	needed text := CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
	IF NOT pg_has_role(current_user, 'heddle_app', needed) THEN
		BEGIN
			EXECUTE format('GRANT heddle_app TO %I', current_user);
		EXCEPTION
			-- The same grant is being made from another database; XX000 is "tuple concurrently updated".
			WHEN unique_violation OR internal_error THEN NULL;
			WHEN insufficient_privilege THEN
				RAISE EXCEPTION '% may not take the role heddle_app', current_user
					USING ERRCODE = 'insufficient_privilege',
						HINT = format('Run as a superuser: grant heddle_app to %I', current_user);
		END;
	END IF;
END $$;
--> statement-breakpoint
CREATE SCHEMA IF NOT EXISTS "heddle";
--> statement-breakpoint
CREATE TABLE "heddle"."agent_clears" (
	"agent_id" uuid NOT NULL,
	"epoch" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"cleared_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "agent_clears_agent_id_epoch_pk" PRIMARY KEY("agent_id","epoch")
);
--> statement-breakpoint
ALTER TABLE "heddle"."agent_clears" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."agent_versions" (
	"agent_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"system_prompt" text DEFAULT '' NOT NULL,
	"docs" json DEFAULT '[]'::json NOT NULL,
	"settings" json DEFAULT '{}'::json NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "agent_versions_agent_id_version_pk" PRIMARY KEY("agent_id","version")
);
--> statement-breakpoint
ALTER TABLE "heddle"."agent_versions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."agents" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"name" text NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"clear_epoch" integer DEFAULT 0 NOT NULL,
	"last_cleared_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "agents_name" UNIQUE("project_id","name")
);
--> statement-breakpoint
ALTER TABLE "heddle"."agents" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."thread_clears" (
	"thread_id" uuid NOT NULL,
	"epoch" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"head_seq" bigint NOT NULL,
	CONSTRAINT "thread_clears_thread_id_epoch_pk" PRIMARY KEY("thread_id","epoch")
);
--> statement-breakpoint
ALTER TABLE "heddle"."thread_clears" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."chunks" (
	"source_id" uuid NOT NULL,
	"model" text NOT NULL,
	"chunk_index" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"source_kind" text NOT NULL,
	"agent_id" uuid NOT NULL,
	"thread_id" uuid,
	"content_hash" "bytea" NOT NULL,
	"from_character" integer NOT NULL,
	"to_character" integer NOT NULL,
	"embedding" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "chunks_project_id_source_id_model_chunk_index_pk" PRIMARY KEY("project_id","source_id","model","chunk_index")
);
--> statement-breakpoint
ALTER TABLE "heddle"."chunks" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."archive" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"message_id" uuid NOT NULL,
	"location" text DEFAULT '' NOT NULL,
	"content_type" text NOT NULL,
	"summary" text NOT NULL,
	"content_hash" "bytea" NOT NULL,
	"file_paths" text[] DEFAULT '{}' NOT NULL,
	"tool_name" text,
	"token_count" integer NOT NULL,
	"original_created_at" timestamp (3) with time zone NOT NULL,
	"archived_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_accessed_at" timestamp (3) with time zone,
	"access_count" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "archive_message" UNIQUE("thread_id","message_id","location")
);
--> statement-breakpoint
ALTER TABLE "heddle"."archive" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."archive_contents" (
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"hash" "bytea" NOT NULL,
	"content" "bytea" NOT NULL,
	"size_bytes" integer NOT NULL,
	"reference_count" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "archive_contents_project_id_hash_pk" PRIMARY KEY("project_id","hash")
);
--> statement-breakpoint
ALTER TABLE "heddle"."archive_contents" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."context_states" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"lane" text NOT NULL,
	"strategy" text NOT NULL,
	"clear_epoch" integer NOT NULL,
	"generation" integer NOT NULL,
	"replaces" uuid,
	"status" text NOT NULL,
	"point_at" timestamp (3) with time zone NOT NULL,
	"point_ordinal" integer NOT NULL,
	"point_id" uuid NOT NULL,
	"head_seq" bigint NOT NULL,
	"top_ids" uuid[] NOT NULL,
	"covered_from_at" timestamp (3) with time zone,
	"covered_from_ordinal" integer,
	"covered_from_id" uuid,
	"covered_to_at" timestamp (3) with time zone,
	"covered_to_ordinal" integer,
	"covered_to_id" uuid,
	"covered_count" integer DEFAULT 0 NOT NULL,
	"covered_tokens" bigint DEFAULT 0 NOT NULL,
	"summary" text,
	"summary_tokens" integer DEFAULT 0 NOT NULL,
	"summarizer" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ready_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "heddle"."context_states" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."prunings" (
	"thread_id" uuid NOT NULL,
	"state_id" uuid NOT NULL,
	"message_id" uuid NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"action" text NOT NULL,
	"text" text NOT NULL,
	"tokens" integer NOT NULL,
	"reason" text NOT NULL,
	"archive_id" uuid NOT NULL,
	"undone_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "prunings_thread_id_message_id_state_id_pk" PRIMARY KEY("thread_id","message_id","state_id")
);
--> statement-breakpoint
ALTER TABLE "heddle"."prunings" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."contexts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"status" text NOT NULL,
	"request" json NOT NULL,
	"requested_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deadline_at" timestamp (3) with time zone NOT NULL,
	"built_at" timestamp (3) with time zone,
	"error" json,
	"state_id" uuid,
	"agent_version" integer,
	"head_seq" bigint,
	"budget" integer,
	"tokens_used" integer,
	"summary_used" boolean,
	"result" "bytea"
);
--> statement-breakpoint
ALTER TABLE "heddle"."contexts" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."snapshots" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"description" text,
	"summary" text NOT NULL,
	"message_count" integer NOT NULL,
	"window_start" timestamp (3) with time zone,
	"window_end" timestamp (3) with time zone NOT NULL,
	"file_name" text NOT NULL,
	"content" "bytea" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "heddle"."snapshots" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."item_versions" (
	"item_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"description" text,
	"text" text DEFAULT '' NOT NULL,
	"input_schema" json,
	"include" text,
	"priority_level" integer,
	"content_hash" "bytea" NOT NULL,
	"erased" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "item_versions_item_id_version_pk" PRIMARY KEY("item_id","version")
);
--> statement-breakpoint
ALTER TABLE "heddle"."item_versions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."items" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"type" text NOT NULL,
	"name" text NOT NULL,
	"server_name" text DEFAULT '' NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "items_name" UNIQUE("agent_id","type","server_name","name")
);
--> statement-breakpoint
ALTER TABLE "heddle"."items" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."thread_items" (
	"thread_id" uuid NOT NULL,
	"item_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"include_mode" text NOT NULL,
	"removed" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "thread_items_thread_id_item_id_version_pk" PRIMARY KEY("thread_id","item_id","version")
);
--> statement-breakpoint
ALTER TABLE "heddle"."thread_items" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."tool_servers" (
	"agent_id" uuid NOT NULL,
	"name" text NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"include" text DEFAULT 'always' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tool_servers_agent_id_name_pk" PRIMARY KEY("agent_id","name")
);
--> statement-breakpoint
ALTER TABLE "heddle"."tool_servers" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."iterations" (
	"thread_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"id" uuid NOT NULL,
	"happened_at" timestamp (3) with time zone NOT NULL,
	"cli_used" text,
	"model_used" text,
	"prompt" text NOT NULL,
	"output" text NOT NULL,
	"progress_score" double precision,
	"progress_markers" json DEFAULT '[]'::json NOT NULL,
	"file_changes" json DEFAULT '[]'::json NOT NULL,
	"duration_seconds" double precision,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "iterations_thread_id_number_pk" PRIMARY KEY("thread_id","number"),
	CONSTRAINT "iterations_id" UNIQUE("thread_id","id")
);
--> statement-breakpoint
ALTER TABLE "heddle"."iterations" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."message_tokens" (
	"thread_id" uuid NOT NULL,
	"seq" bigint NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"tokens" integer NOT NULL,
	CONSTRAINT "message_tokens_thread_id_seq_pk" PRIMARY KEY("thread_id","seq")
);
--> statement-breakpoint
ALTER TABLE "heddle"."message_tokens" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."messages" (
	"thread_id" uuid NOT NULL,
	"seq" bigint NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"id" uuid NOT NULL,
	"code" text collate "C" NOT NULL,
	"role" text NOT NULL,
	"content" text NOT NULL,
	"content_escaped" boolean DEFAULT false NOT NULL,
	"thinking" json,
	"tool_calls" json,
	"tool_call_id" text,
	"tool_name" text,
	"is_error" boolean DEFAULT false NOT NULL,
	"sent_at" timestamp (3) with time zone,
	"ordered_at" timestamp (3) with time zone NOT NULL,
	"ordinal" integer NOT NULL,
	"latest_at" timestamp (3) with time zone NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"source_id" text,
	"model" text,
	"usage" json,
	"context_id" uuid,
	"pinned" boolean DEFAULT false NOT NULL,
	"kept_aside" text,
	"metadata" json,
	"tokens_estimate" integer NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	CONSTRAINT "messages_thread_id_seq_pk" PRIMARY KEY("thread_id","seq"),
	CONSTRAINT "messages_id" UNIQUE("thread_id","id"),
	CONSTRAINT "messages_code" UNIQUE("thread_id","code")
);
--> statement-breakpoint
ALTER TABLE "heddle"."messages" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."dead_letters" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"stage" text NOT NULL,
	"job_id" text NOT NULL,
	"thread_id" uuid,
	"payload" json NOT NULL,
	"error" json NOT NULL,
	"attempts" integer NOT NULL,
	"failed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"redriven_at" timestamp (3) with time zone,
	CONSTRAINT "dead_letters_job" UNIQUE("project_id","stage","job_id")
);
--> statement-breakpoint
ALTER TABLE "heddle"."dead_letters" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."events" (
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"number" bigint NOT NULL,
	"topic" text NOT NULL,
	"thread_id" uuid,
	"subject_id" uuid,
	"head_seq" bigint,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "events_project_id_number_pk" PRIMARY KEY("project_id","number")
);
--> statement-breakpoint
ALTER TABLE "heddle"."events" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."tombstones" (
	"target_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tombstones_target_id_kind_pk" PRIMARY KEY("target_id","kind")
);
--> statement-breakpoint
ALTER TABLE "heddle"."tombstones" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."api_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"hash" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "heddle"."api_keys" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."grants" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"grantee_project_id" uuid NOT NULL,
	"scope" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"accepted_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "heddle"."grants" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."projects" (
	"project_id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"event_number" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "projects_name_unique" UNIQUE("name")
);
--> statement-breakpoint
ALTER TABLE "heddle"."projects" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."processes" (
	"thread_id" uuid NOT NULL,
	"name" text NOT NULL,
	"version" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"status" text NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "processes_thread_id_name_version_pk" PRIMARY KEY("thread_id","name","version")
);
--> statement-breakpoint
ALTER TABLE "heddle"."processes" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."stage_cursors" (
	"thread_id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"head_seq" bigint DEFAULT 0 NOT NULL,
	"prune_seq" bigint DEFAULT 0 NOT NULL,
	"summarize_seq" bigint DEFAULT 0 NOT NULL,
	"embed_seq" bigint DEFAULT 0 NOT NULL,
	"tokens_estimate" bigint DEFAULT 0 NOT NULL,
	"last_message_at" timestamp (3) with time zone,
	"retry_at" timestamp (3) with time zone,
	"last_error" text
);
--> statement-breakpoint
ALTER TABLE "heddle"."stage_cursors" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."thread_versions" (
	"thread_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"title" text,
	"goal" text,
	"status" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "thread_versions_thread_id_version_pk" PRIMARY KEY("thread_id","version")
);
--> statement-breakpoint
ALTER TABLE "heddle"."thread_versions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "heddle"."threads" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"name" text NOT NULL,
	"code" text collate "C" NOT NULL,
	"agent_id" uuid NOT NULL,
	"version" integer DEFAULT 0 NOT NULL,
	"settings" json DEFAULT '{}'::json NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "threads_name" UNIQUE("project_id","name"),
	CONSTRAINT "threads_code" UNIQUE("project_id","code")
);
--> statement-breakpoint
ALTER TABLE "heddle"."threads" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."agent_clears" ADD CONSTRAINT "agent_clears_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heddle"."agent_versions" ADD CONSTRAINT "agent_versions_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heddle"."agents" ADD CONSTRAINT "agents_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "heddle"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heddle"."item_versions" ADD CONSTRAINT "item_versions_item_id_items_id_fk" FOREIGN KEY ("item_id") REFERENCES "heddle"."items"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heddle"."items" ADD CONSTRAINT "items_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heddle"."tool_servers" ADD CONSTRAINT "tool_servers_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heddle"."api_keys" ADD CONSTRAINT "api_keys_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "heddle"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heddle"."grants" ADD CONSTRAINT "grants_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "heddle"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heddle"."grants" ADD CONSTRAINT "grants_grantee_project_id_projects_project_id_fk" FOREIGN KEY ("grantee_project_id") REFERENCES "heddle"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heddle"."processes" ADD CONSTRAINT "processes_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heddle"."thread_versions" ADD CONSTRAINT "thread_versions_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heddle"."threads" ADD CONSTRAINT "threads_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "chunks_scope" ON "heddle"."chunks" USING btree ("agent_id","model","thread_id");--> statement-breakpoint
CREATE INDEX "archive_kind" ON "heddle"."archive" USING btree ("project_id","content_type","original_created_at");--> statement-breakpoint
CREATE INDEX "archive_content" ON "heddle"."archive" USING btree ("project_id","content_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "context_states_generation" ON "heddle"."context_states" USING btree ("thread_id","lane","clear_epoch","generation") WHERE status <> 'void';--> statement-breakpoint
CREATE INDEX "context_states_pending" ON "heddle"."context_states" USING btree ("thread_id") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "contexts_thread" ON "heddle"."contexts" USING btree ("thread_id","requested_at");--> statement-breakpoint
CREATE INDEX "contexts_requested" ON "heddle"."contexts" USING btree ("requested_at") WHERE status = 'requested';--> statement-breakpoint
CREATE INDEX "snapshots_history" ON "heddle"."snapshots" USING btree ("agent_id","created_at");--> statement-breakpoint
CREATE INDEX "messages_order" ON "heddle"."messages" USING btree ("thread_id","ordered_at","ordinal","id");--> statement-breakpoint
CREATE INDEX "messages_project_id" ON "heddle"."messages" USING btree ("id","project_id");--> statement-breakpoint
CREATE INDEX "messages_late" ON "heddle"."messages" USING btree ("thread_id","ordered_at") WHERE ordered_at < latest_at;--> statement-breakpoint
CREATE INDEX "messages_aside" ON "heddle"."messages" USING btree ("thread_id","ordered_at") WHERE kept_aside is not null or role in ('error', 'approval');--> statement-breakpoint
CREATE INDEX "dead_letters_open" ON "heddle"."dead_letters" USING btree ("project_id","failed_at") WHERE redriven_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_hash" ON "heddle"."api_keys" USING btree ("hash");--> statement-breakpoint
CREATE UNIQUE INDEX "grants_pair" ON "heddle"."grants" USING btree ("project_id","grantee_project_id","scope");--> statement-breakpoint
CREATE INDEX "stage_cursors_lagging" ON "heddle"."stage_cursors" USING btree ("retry_at","last_message_at") WHERE prune_seq < head_seq or summarize_seq < head_seq or embed_seq < head_seq;--> statement-breakpoint
CREATE INDEX "threads_agent" ON "heddle"."threads" USING btree ("agent_id","created_at");--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."agent_clears" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."agent_clears"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."agent_clears"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."agent_versions" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."agent_versions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."agent_versions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."agents" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."agents"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."agents"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."thread_clears" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."thread_clears"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."thread_clears"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."chunks" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."chunks"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."chunks"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."archive" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."archive"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."archive"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."archive_contents" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."archive_contents"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."archive_contents"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."context_states" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."context_states"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."context_states"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."prunings" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."prunings"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."prunings"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."contexts" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."contexts"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."contexts"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."snapshots" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."snapshots"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."snapshots"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."item_versions" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."item_versions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."item_versions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."items" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."items"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."items"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."thread_items" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."thread_items"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."thread_items"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."tool_servers" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."tool_servers"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."tool_servers"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."iterations" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."iterations"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."iterations"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."message_tokens" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."message_tokens"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."message_tokens"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."messages" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."messages"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."messages"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."dead_letters" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."dead_letters"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."dead_letters"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."events" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."events"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."events"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."tombstones" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."tombstones"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."tombstones"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."api_keys" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."api_keys"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."api_keys"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."grants" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."grants"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."grants"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."projects" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."projects"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."projects"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."processes" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."processes"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."processes"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."stage_cursors" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."stage_cursors"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."stage_cursors"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."thread_versions" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."thread_versions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."thread_versions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."threads" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."threads"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."threads"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
--> statement-breakpoint
GRANT USAGE ON SCHEMA heddle TO heddle_app;--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA heddle TO heddle_app;--> statement-breakpoint
ALTER DEFAULT PRIVILEGES IN SCHEMA heddle GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO heddle_app;--> statement-breakpoint
-- Append-only: what was stored under a message, a version or a clear is what can be shown later. Erasure deletes.
REVOKE UPDATE ON heddle.messages, heddle.iterations, heddle.agent_versions, heddle.agent_clears, heddle.thread_clears,
	heddle.thread_versions, heddle.item_versions FROM heddle_app;--> statement-breakpoint
-- Row-level security binds the owner of the tables, too, unless it is a superuser.
DO $$
DECLARE
	name_of_table name;
BEGIN
	FOR name_of_table IN SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = 'heddle' LOOP
		EXECUTE format('ALTER TABLE heddle.%I FORCE ROW LEVEL SECURITY', name_of_table);
	END LOOP;
END $$;
--> statement-breakpoint
-- The functions below run as the owner and look across projects: these three tables show it their rows.
CREATE POLICY "owner_reads_all" ON "heddle"."stage_cursors" FOR SELECT TO CURRENT_USER USING (true);--> statement-breakpoint
CREATE POLICY "owner_reads_all" ON "heddle"."contexts" FOR SELECT TO CURRENT_USER USING (true);--> statement-breakpoint
CREATE POLICY "owner_reads_all" ON "heddle"."context_states" FOR SELECT TO CURRENT_USER USING (true);--> statement-breakpoint
-- Threads with a stage behind their head, those that wait longest first. A thread that a stage gave up on waits for its
-- `retry_at`. Both branches read the partial index `stage_cursors_lagging` in its order.
CREATE FUNCTION heddle.lagging_threads(max_rows integer, at_time timestamptz)
RETURNS TABLE (project_id uuid, thread_id uuid, stage text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT lagging.project_id, lagging.thread_id, behind.stage
	FROM (
		(SELECT * FROM heddle.stage_cursors
		WHERE retry_at IS NULL AND (prune_seq < head_seq OR summarize_seq < head_seq OR embed_seq < head_seq)
		ORDER BY last_message_at
		LIMIT max_rows)
		UNION ALL
		(SELECT * FROM heddle.stage_cursors
		WHERE retry_at <= at_time AND (prune_seq < head_seq OR summarize_seq < head_seq OR embed_seq < head_seq)
		ORDER BY retry_at
		LIMIT max_rows)
	) AS lagging
	CROSS JOIN LATERAL (
		VALUES ('prune', lagging.prune_seq), ('summarize', lagging.summarize_seq), ('embed', lagging.embed_seq)
	) AS behind (stage, seq)
	WHERE behind.seq < lagging.head_seq
	LIMIT max_rows
$$;
--> statement-breakpoint
-- Contexts that were requested before a time and that nobody has built or failed yet.
CREATE FUNCTION heddle.requested_contexts(max_rows integer, requested_before timestamptz)
RETURNS TABLE (project_id uuid, context_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT contexts.project_id, contexts.id
	FROM heddle.contexts
	WHERE contexts.status = 'requested' AND contexts.requested_at <= requested_before
	ORDER BY contexts.requested_at
	LIMIT max_rows
$$;
--> statement-breakpoint
-- Threads with a compaction that waits for its summary since before a time.
CREATE FUNCTION heddle.pending_states(max_rows integer, created_before timestamptz, at_time timestamptz)
RETURNS TABLE (project_id uuid, thread_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT DISTINCT states.project_id, states.thread_id
	FROM heddle.context_states AS states
	JOIN heddle.stage_cursors AS cursors ON cursors.thread_id = states.thread_id
	WHERE states.status = 'pending' AND states.created_at <= created_before
		AND (cursors.retry_at IS NULL OR cursors.retry_at <= at_time)
	LIMIT max_rows
$$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION heddle.lagging_threads, heddle.requested_contexts, heddle.pending_states FROM PUBLIC;--> statement-breakpoint
GRANT EXECUTE ON FUNCTION heddle.lagging_threads, heddle.requested_contexts, heddle.pending_states TO heddle_app;
