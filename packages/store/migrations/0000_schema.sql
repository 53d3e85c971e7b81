-- By hand: the role that policies and rights name. Drizzle expresses neither roles nor grants.
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

-- The login that migrates usually serves as well, and must be able to take the role. From Postgres 16 on, membership alone is not enough.
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

-- Made by drizzle-kit from src/schema.
CREATE SCHEMA IF NOT EXISTS "heddle";

CREATE TABLE "heddle"."agent_clears" (
	"agent_id" uuid NOT NULL,
	"epoch" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"cleared_at" timestamp (3) with time zone NOT NULL,
	"request_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "agent_clears_agent_id_epoch_pk" PRIMARY KEY("agent_id","epoch"),
	CONSTRAINT "agent_clears_request" UNIQUE("agent_id","request_id")
);

ALTER TABLE "heddle"."agent_clears" ENABLE ROW LEVEL SECURITY;
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

ALTER TABLE "heddle"."agent_versions" ENABLE ROW LEVEL SECURITY;
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

ALTER TABLE "heddle"."agents" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."thread_clears" (
	"thread_id" uuid NOT NULL,
	"epoch" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"head_seq" bigint NOT NULL,
	CONSTRAINT "thread_clears_thread_id_epoch_pk" PRIMARY KEY("thread_id","epoch")
);

ALTER TABLE "heddle"."thread_clears" ENABLE ROW LEVEL SECURITY;
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
	"failed" boolean DEFAULT false NOT NULL,
	"original_created_at" timestamp (3) with time zone NOT NULL,
	"archived_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_accessed_at" timestamp (3) with time zone,
	"access_count" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "archive_message" UNIQUE("thread_id","message_id","location")
);

ALTER TABLE "heddle"."archive" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."archive_contents" (
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"hash" "bytea" NOT NULL,
	"content" "bytea" NOT NULL,
	"blocks" json,
	"size_bytes" integer NOT NULL,
	"reference_count" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "archive_contents_project_id_hash_pk" PRIMARY KEY("project_id","hash")
);

ALTER TABLE "heddle"."archive_contents" ENABLE ROW LEVEL SECURITY;
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
	"ready_at" timestamp (3) with time zone,
	"voided_at" timestamp (3) with time zone
);

ALTER TABLE "heddle"."context_states" ENABLE ROW LEVEL SECURITY;
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

ALTER TABLE "heddle"."prunings" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."undone_messages" (
	"thread_id" uuid NOT NULL,
	"message_id" uuid NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"undone_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"redone_at" timestamp (3) with time zone,
	CONSTRAINT "undone_messages_thread_id_message_id_undone_at_pk" PRIMARY KEY("thread_id","message_id","undone_at")
);

ALTER TABLE "heddle"."undone_messages" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."context_items" (
	"context_id" uuid NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"built_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"item_ids" uuid[] NOT NULL,
	"versions" integer[] NOT NULL,
	"modes" text[] NOT NULL,
	"scores" real[] NOT NULL,
	"tokens" integer[] NOT NULL,
	"answered_seq" bigint,
	"used_ids" uuid[] DEFAULT '{}' NOT NULL,
	CONSTRAINT "context_items_context_id_pk" PRIMARY KEY("context_id")
);

ALTER TABLE "heddle"."context_items" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."context_deliveries" (
	"context_id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"delivered_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"result" "bytea" NOT NULL
);

ALTER TABLE "heddle"."context_deliveries" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."context_lines" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"chain_id" uuid NOT NULL,
	"base_id" uuid,
	"depth" integer NOT NULL,
	"delta" "bytea" NOT NULL
);

ALTER TABLE "heddle"."context_lines" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."context_mentions" (
	"thread_id" uuid NOT NULL,
	"context_id" uuid NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	CONSTRAINT "context_mentions_thread_id_context_id_pk" PRIMARY KEY("thread_id","context_id")
);

ALTER TABLE "heddle"."context_mentions" ENABLE ROW LEVEL SECURITY;
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
	"shown_at" timestamp (3) with time zone,
	"hidden" "bytea",
	"digest" "bytea",
	"prepared_key" text,
	"prepared_count" integer DEFAULT 0 NOT NULL,
	"lane" text,
	"versions" text,
	"holds_until" timestamp (3) with time zone,
	"fill" text
);

ALTER TABLE "heddle"."contexts" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."snapshots" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"status" text DEFAULT 'saved' NOT NULL,
	"deadline_at" timestamp (3) with time zone,
	"error" json,
	"description" text,
	"summary" text,
	"summary_error" text,
	"message_count" integer DEFAULT 0 NOT NULL,
	"window_start" timestamp (3) with time zone,
	"window_end" timestamp (3) with time zone,
	"stored_in" text DEFAULT 'postgres' NOT NULL,
	"file_name" text NOT NULL,
	"content" "bytea",
	"restored_at" timestamp (3) with time zone,
	"thread_ids" uuid[] DEFAULT '{}' NOT NULL,
	"needs_summary" boolean DEFAULT false NOT NULL,
	"erased_count" integer DEFAULT 0 NOT NULL
);

ALTER TABLE "heddle"."snapshots" ENABLE ROW LEVEL SECURITY;
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

ALTER TABLE "heddle"."item_versions" ENABLE ROW LEVEL SECURITY;
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

ALTER TABLE "heddle"."items" ENABLE ROW LEVEL SECURITY;
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

ALTER TABLE "heddle"."thread_items" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."tool_servers" (
	"agent_id" uuid NOT NULL,
	"name" text NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"include" text DEFAULT 'always' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tool_servers_agent_id_name_pk" PRIMARY KEY("agent_id","name")
);

ALTER TABLE "heddle"."tool_servers" ENABLE ROW LEVEL SECURITY;
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
	"texts_escaped" boolean DEFAULT false NOT NULL,
	"progress_score" double precision,
	"progress_markers" json DEFAULT '[]'::json NOT NULL,
	"file_changes" json DEFAULT '[]'::json NOT NULL,
	"file_events" json DEFAULT '[]'::json NOT NULL,
	"duration_seconds" double precision,
	"fingerprint" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "iterations_thread_id_number_pk" PRIMARY KEY("thread_id","number"),
	CONSTRAINT "iterations_id" UNIQUE("thread_id","id")
);

ALTER TABLE "heddle"."iterations" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."message_tokens" (
	"thread_id" uuid NOT NULL,
	"seq" bigint NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"tokens" integer[] NOT NULL,
	"reasoning" integer[],
	CONSTRAINT "message_tokens_thread_id_seq_pk" PRIMARY KEY("thread_id","seq")
);

ALTER TABLE "heddle"."message_tokens" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."messages" (
	"thread_id" uuid NOT NULL,
	"seq" bigint NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"id" uuid NOT NULL,
	"code" text collate "C" NOT NULL,
	"role" text NOT NULL,
	"content" text NOT NULL,
	"content_escaped" boolean DEFAULT false NOT NULL,
	"parts" json,
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
	"restores_seq" bigint,
	CONSTRAINT "messages_thread_id_seq_pk" PRIMARY KEY("thread_id","seq"),
	CONSTRAINT "messages_id" UNIQUE("thread_id","id"),
	CONSTRAINT "messages_code" UNIQUE("thread_id","code")
);

ALTER TABLE "heddle"."messages" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."dead_letters" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"stage" text NOT NULL,
	"job_id" text NOT NULL,
	"thread_id" uuid,
	"agent_id" uuid,
	"payload" json NOT NULL,
	"error" json NOT NULL,
	"attempts" integer NOT NULL,
	"failed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"redriven_at" timestamp (3) with time zone,
	CONSTRAINT "dead_letters_job" UNIQUE("project_id","stage","job_id")
);

ALTER TABLE "heddle"."dead_letters" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."erased_messages" (
	"target_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	CONSTRAINT "erased_messages_target_id_id_pk" PRIMARY KEY("target_id","id")
);

ALTER TABLE "heddle"."erased_messages" ENABLE ROW LEVEL SECURITY;
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

ALTER TABLE "heddle"."events" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."tombstones" (
	"target_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"agent_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp (3) with time zone,
	"removed" json DEFAULT '{}'::json NOT NULL,
	"reuse" boolean DEFAULT false NOT NULL,
	"freed_id" uuid,
	"head_seq" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "tombstones_target_id_kind_pk" PRIMARY KEY("target_id","kind")
);

ALTER TABLE "heddle"."tombstones" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."turns" (
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"name" text NOT NULL,
	"taken_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "turns_project_id_name_pk" PRIMARY KEY("project_id","name")
);

ALTER TABLE "heddle"."turns" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."part_contents" (
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"hash" "bytea" NOT NULL,
	"content" "bytea" NOT NULL,
	"size_bytes" integer NOT NULL,
	"reference_count" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "part_contents_project_id_hash_pk" PRIMARY KEY("project_id","hash")
);

ALTER TABLE "heddle"."part_contents" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."posting_blocks" (
	"segment" bigint NOT NULL,
	"first_term" text collate "C" NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"postings" "bytea" NOT NULL,
	CONSTRAINT "posting_blocks_segment_first_term_pk" PRIMARY KEY("segment","first_term")
);

ALTER TABLE "heddle"."posting_blocks" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."posting_segments" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "heddle"."posting_segments_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"level" integer NOT NULL,
	"documents" integer NOT NULL,
	"length" bigint NOT NULL,
	"threads" bigint[] NOT NULL
);

ALTER TABLE "heddle"."posting_segments" ENABLE ROW LEVEL SECURITY;
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

ALTER TABLE "heddle"."posting_threads" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."progress_summaries" (
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"thread_id" uuid NOT NULL,
	"lane" text NOT NULL,
	"clear_epoch" integer NOT NULL,
	"version" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"kind" text NOT NULL,
	"total" integer NOT NULL,
	"covered_count" integer NOT NULL,
	"covered_from" integer NOT NULL,
	"covered_to" integer NOT NULL,
	"summary" text NOT NULL,
	"summary_tokens" integer NOT NULL,
	"summarizer" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "progress_summaries_thread_id_lane_clear_epoch_version_pk" PRIMARY KEY("thread_id","lane","clear_epoch","version"),
	CONSTRAINT "progress_summaries_id" UNIQUE("id")
);

ALTER TABLE "heddle"."progress_summaries" ENABLE ROW LEVEL SECURITY;
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

ALTER TABLE "heddle"."api_keys" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."grants" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"grantee_project_id" uuid NOT NULL,
	"scope" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"accepted_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone
);

ALTER TABLE "heddle"."grants" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."projects" (
	"project_id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"event_number" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "projects_name_unique" UNIQUE("name")
);

ALTER TABLE "heddle"."projects" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."summary_calls" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"summary_id" uuid NOT NULL,
	"purpose" text NOT NULL,
	"provider" text NOT NULL,
	"model" text NOT NULL,
	"outcome" text NOT NULL,
	"error_code" text,
	"input_tokens" integer,
	"output_tokens" integer,
	"cost_usd" double precision,
	"duration_ms" integer NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);

ALTER TABLE "heddle"."summary_calls" ENABLE ROW LEVEL SECURITY;
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

ALTER TABLE "heddle"."summary_leaves" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."summary_parts" (
	"thread_id" uuid NOT NULL,
	"hash" "bytea" NOT NULL,
	"summarizer" text NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"summary" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "summary_parts_thread_id_hash_summarizer_pk" PRIMARY KEY("thread_id","hash","summarizer")
);

ALTER TABLE "heddle"."summary_parts" ENABLE ROW LEVEL SECURITY;
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

ALTER TABLE "heddle"."processes" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."running_processes" (
	"thread_id" uuid NOT NULL,
	"name" text NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"version" integer NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "running_processes_thread_id_name_pk" PRIMARY KEY("thread_id","name")
);

ALTER TABLE "heddle"."running_processes" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."stage_cursors" (
	"thread_id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"head_seq" bigint DEFAULT 0 NOT NULL,
	"base_seq" bigint DEFAULT 0 NOT NULL,
	"erased_at" timestamp (3) with time zone,
	"restored_count" integer DEFAULT 0 NOT NULL,
	"prune_seq" bigint DEFAULT 0 NOT NULL,
	"summarize_seq" bigint DEFAULT 0 NOT NULL,
	"embed_seq" bigint DEFAULT 0 NOT NULL,
	"prune_usage" json,
	"iteration_count" integer DEFAULT 0 NOT NULL,
	"progress_count" integer DEFAULT 0 NOT NULL,
	"tokens_estimate" bigint DEFAULT 0 NOT NULL,
	"last_message_at" timestamp (3) with time zone,
	"retry_at" timestamp (3) with time zone,
	"last_error" text
);

ALTER TABLE "heddle"."stage_cursors" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."thread_versions" (
	"thread_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"title" text,
	"goal" text,
	"status" text,
	"settings" json DEFAULT '{}'::json NOT NULL,
	"loop" json,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "thread_versions_thread_id_version_pk" PRIMARY KEY("thread_id","version")
);

ALTER TABLE "heddle"."thread_versions" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."threads" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"name" text NOT NULL,
	"code" text collate "C" NOT NULL,
	"agent_id" uuid NOT NULL,
	"version" integer DEFAULT 0 NOT NULL,
	"active_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "threads_name" UNIQUE("project_id","name"),
	CONSTRAINT "threads_code" UNIQUE("project_id","code")
);

ALTER TABLE "heddle"."threads" ENABLE ROW LEVEL SECURITY;
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

ALTER TABLE "heddle"."item_vectors" ENABLE ROW LEVEL SECURITY;
CREATE TABLE "heddle"."vector_threads" (
	"thread_id" uuid NOT NULL,
	"model" text NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"to_seq" bigint NOT NULL,
	"chunks" integer NOT NULL,
	CONSTRAINT "vector_threads_thread_id_model_pk" PRIMARY KEY("thread_id","model")
);

ALTER TABLE "heddle"."vector_threads" ENABLE ROW LEVEL SECURITY;
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

ALTER TABLE "heddle"."vectors" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "heddle"."agent_clears" ADD CONSTRAINT "agent_clears_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."agent_versions" ADD CONSTRAINT "agent_versions_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."agents" ADD CONSTRAINT "agents_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "heddle"."projects"("project_id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."undone_messages" ADD CONSTRAINT "undone_messages_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."context_deliveries" ADD CONSTRAINT "context_deliveries_context_id_contexts_id_fk" FOREIGN KEY ("context_id") REFERENCES "heddle"."contexts"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."context_mentions" ADD CONSTRAINT "context_mentions_context_id_contexts_id_fk" FOREIGN KEY ("context_id") REFERENCES "heddle"."contexts"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."item_versions" ADD CONSTRAINT "item_versions_item_id_items_id_fk" FOREIGN KEY ("item_id") REFERENCES "heddle"."items"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."items" ADD CONSTRAINT "items_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."thread_items" ADD CONSTRAINT "thread_items_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."tool_servers" ADD CONSTRAINT "tool_servers_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."iterations" ADD CONSTRAINT "iterations_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."posting_blocks" ADD CONSTRAINT "posting_blocks_segment_posting_segments_number_fk" FOREIGN KEY ("segment") REFERENCES "heddle"."posting_segments"("number") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."progress_summaries" ADD CONSTRAINT "progress_summaries_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."api_keys" ADD CONSTRAINT "api_keys_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "heddle"."projects"("project_id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."grants" ADD CONSTRAINT "grants_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "heddle"."projects"("project_id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."grants" ADD CONSTRAINT "grants_grantee_project_id_projects_project_id_fk" FOREIGN KEY ("grantee_project_id") REFERENCES "heddle"."projects"("project_id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."processes" ADD CONSTRAINT "processes_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."running_processes" ADD CONSTRAINT "running_processes_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."thread_versions" ADD CONSTRAINT "thread_versions_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."threads" ADD CONSTRAINT "threads_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "heddle"."agents"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "heddle"."item_vectors" ADD CONSTRAINT "item_vectors_item_id_items_id_fk" FOREIGN KEY ("item_id") REFERENCES "heddle"."items"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "archive_newest" ON "heddle"."archive" USING btree ("thread_id","original_created_at","id");
CREATE INDEX "archive_kind" ON "heddle"."archive" USING btree ("project_id","content_type","original_created_at");
CREATE INDEX "archive_content" ON "heddle"."archive" USING btree ("project_id","content_hash");
CREATE UNIQUE INDEX "context_states_generation" ON "heddle"."context_states" USING btree ("thread_id","lane","clear_epoch","generation") WHERE status <> 'void';
CREATE INDEX "context_states_pending" ON "heddle"."context_states" USING btree ("thread_id") WHERE status = 'pending';
CREATE INDEX "context_states_void" ON "heddle"."context_states" USING btree ("thread_id") WHERE status = 'void';
CREATE INDEX "context_states_voided" ON "heddle"."context_states" USING btree ("voided_at") WHERE status = 'void';
CREATE INDEX "context_items_newest" ON "heddle"."context_items" USING btree ("agent_id","built_at");
CREATE INDEX "context_items_answers" ON "heddle"."context_items" USING btree ("thread_id","answered_seq");
CREATE INDEX "context_items_built" ON "heddle"."context_items" USING btree ("built_at","project_id");
CREATE INDEX "context_deliveries_time" ON "heddle"."context_deliveries" USING btree ("delivered_at","project_id");
CREATE INDEX "context_lines_chain" ON "heddle"."context_lines" USING btree ("thread_id","chain_id");
CREATE INDEX "context_mentions_context" ON "heddle"."context_mentions" USING btree ("context_id");
CREATE INDEX "contexts_thread" ON "heddle"."contexts" USING btree ("thread_id","requested_at");
CREATE INDEX "contexts_requested" ON "heddle"."contexts" USING btree ("requested_at") WHERE status = 'requested';
CREATE INDEX "contexts_answered" ON "heddle"."contexts" USING btree ("requested_at","project_id") WHERE status <> 'requested';
CREATE INDEX "contexts_prepared" ON "heddle"."contexts" USING btree ("thread_id","prepared_key","requested_at") WHERE prepared_key is not null;
CREATE INDEX "snapshots_history" ON "heddle"."snapshots" USING btree ("agent_id","created_at","id") WHERE status = 'saved';
CREATE INDEX "snapshots_of_agent" ON "heddle"."snapshots" USING btree ("agent_id");
CREATE INDEX "snapshots_requested" ON "heddle"."snapshots" USING btree ("created_at") WHERE status = 'requested';
CREATE INDEX "snapshots_saved" ON "heddle"."snapshots" USING btree ("created_at") WHERE status = 'saved';
CREATE INDEX "messages_order" ON "heddle"."messages" USING btree ("thread_id","ordered_at","ordinal","id");
CREATE INDEX "messages_late" ON "heddle"."messages" USING btree ("thread_id","ordered_at") WHERE ordered_at < latest_at;
CREATE INDEX "messages_restored" ON "heddle"."messages" USING btree ("thread_id","restores_seq","seq") WHERE restores_seq is not null;
CREATE INDEX "messages_aside" ON "heddle"."messages" USING btree ("thread_id","ordered_at") WHERE kept_aside is not null or role in ('error', 'approval');
CREATE INDEX "dead_letters_open" ON "heddle"."dead_letters" USING btree ("project_id","failed_at") WHERE redriven_at is null;
CREATE INDEX "dead_letters_redriven" ON "heddle"."dead_letters" USING btree ("redriven_at") WHERE redriven_at is not null;
CREATE INDEX "dead_letters_thread" ON "heddle"."dead_letters" USING btree ("thread_id") WHERE thread_id is not null;
CREATE INDEX "dead_letters_agent" ON "heddle"."dead_letters" USING btree ("agent_id") WHERE agent_id is not null;
CREATE INDEX "events_thread" ON "heddle"."events" USING btree ("thread_id");
CREATE INDEX "events_subject" ON "heddle"."events" USING btree ("subject_id") WHERE subject_id is not null;
CREATE INDEX "tombstones_freed" ON "heddle"."tombstones" USING btree ("freed_id") WHERE freed_id is not null;
CREATE INDEX "tombstones_unfinished" ON "heddle"."tombstones" USING btree ("created_at") WHERE finished_at is null;
CREATE INDEX "tombstones_finished" ON "heddle"."tombstones" USING btree ("finished_at") WHERE finished_at is not null;
CREATE INDEX "part_contents_unused" ON "heddle"."part_contents" USING btree ("project_id","created_at") WHERE reference_count = 0;
CREATE INDEX "posting_segments_scope" ON "heddle"."posting_segments" USING btree ("project_id","agent_id","level");
CREATE INDEX "posting_threads_agent" ON "heddle"."posting_threads" USING btree ("agent_id");
CREATE UNIQUE INDEX "api_keys_hash" ON "heddle"."api_keys" USING btree ("hash");
CREATE UNIQUE INDEX "grants_pair" ON "heddle"."grants" USING btree ("project_id","grantee_project_id","scope");
CREATE INDEX "summary_calls_thread" ON "heddle"."summary_calls" USING btree ("thread_id","created_at");
CREATE INDEX "summary_calls_created" ON "heddle"."summary_calls" USING btree ("created_at");
CREATE INDEX "running_processes_newest" ON "heddle"."running_processes" USING btree ("thread_id","updated_at" DESC NULLS LAST,"name");
CREATE INDEX "stage_cursors_lagging" ON "heddle"."stage_cursors" USING btree ("retry_at","last_message_at") WHERE prune_seq < head_seq or summarize_seq < head_seq or embed_seq < head_seq;
CREATE INDEX "stage_cursors_progress" ON "heddle"."stage_cursors" USING btree ("retry_at") WHERE progress_count < iteration_count;
CREATE INDEX "threads_agent" ON "heddle"."threads" USING btree ("agent_id","created_at");
CREATE INDEX "threads_active" ON "heddle"."threads" USING btree ("agent_id","active_at" DESC NULLS LAST,"id") WHERE active_at is not null;
CREATE INDEX "vector_threads_scope" ON "heddle"."vector_threads" USING btree ("agent_id","model");
CREATE INDEX "vector_threads_model" ON "heddle"."vector_threads" USING btree ("model");
CREATE INDEX "vectors_small" ON "heddle"."vectors" USING btree ("thread_id","model") WHERE chunks < 16;
CREATE POLICY "own_project_only" ON "heddle"."agent_clears" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."agent_clears"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."agent_clears"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."agent_versions" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."agent_versions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."agent_versions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."agents" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."agents"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."agents"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."thread_clears" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."thread_clears"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."thread_clears"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."archive" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."archive"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."archive"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."archive_contents" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."archive_contents"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."archive_contents"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."context_states" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."context_states"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."context_states"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."prunings" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."prunings"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."prunings"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."undone_messages" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."undone_messages"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."undone_messages"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."context_items" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."context_items"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."context_items"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."context_deliveries" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."context_deliveries"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."context_deliveries"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."context_lines" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."context_lines"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."context_lines"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."context_mentions" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."context_mentions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."context_mentions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."contexts" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."contexts"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."contexts"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."snapshots" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."snapshots"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."snapshots"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."item_versions" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."item_versions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."item_versions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."items" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."items"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."items"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."thread_items" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."thread_items"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."thread_items"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."tool_servers" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."tool_servers"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."tool_servers"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."iterations" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."iterations"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."iterations"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."message_tokens" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."message_tokens"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."message_tokens"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."messages" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."messages"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."messages"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."dead_letters" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."dead_letters"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."dead_letters"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."erased_messages" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."erased_messages"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."erased_messages"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."events" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."events"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."events"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."tombstones" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."tombstones"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."tombstones"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."turns" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."turns"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."turns"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."part_contents" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."part_contents"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."part_contents"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."posting_blocks" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."posting_blocks"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."posting_blocks"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."posting_segments" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."posting_segments"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."posting_segments"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."posting_threads" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."posting_threads"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."posting_threads"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."progress_summaries" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."progress_summaries"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."progress_summaries"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."api_keys" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."api_keys"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."api_keys"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."grants" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."grants"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."grants"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."projects" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."projects"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."projects"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."summary_calls" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."summary_calls"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."summary_calls"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."summary_leaves" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."summary_leaves"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."summary_leaves"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."summary_parts" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."summary_parts"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."summary_parts"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."processes" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."processes"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."processes"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."running_processes" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."running_processes"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."running_processes"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."stage_cursors" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."stage_cursors"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."stage_cursors"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."thread_versions" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."thread_versions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."thread_versions"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."threads" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."threads"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."threads"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."item_vectors" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."item_vectors"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."item_vectors"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."vector_threads" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."vector_threads"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."vector_threads"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
CREATE POLICY "own_project_only" ON "heddle"."vectors" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."vectors"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."vectors"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));

-- From here on by hand: rights, storage, and the functions that look across projects.
GRANT USAGE ON SCHEMA heddle TO heddle_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA heddle TO heddle_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA heddle GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO heddle_app;

-- Append-only: what was stored as a message, an iteration, a version, a clear or a summary can be shown later. Erasure deletes.
REVOKE UPDATE ON heddle.messages, heddle.iterations, heddle.agent_versions, heddle.agent_clears, heddle.thread_clears,
	heddle.thread_versions, heddle.item_versions, heddle.processes, heddle.progress_summaries FROM heddle_app;

-- Row-level security binds the owner of the tables as well, unless it is a superuser.
DO $$
DECLARE
	name_of_table name;
BEGIN
	FOR name_of_table IN SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = 'heddle' LOOP
		EXECUTE format('ALTER TABLE heddle.%I FORCE ROW LEVEL SECURITY', name_of_table);
	END LOOP;
END $$;

-- These bytes are compressed already or cannot be compressed: the server's own compression would cost time at each write, and
-- would not let a part of a content be read without the rest.
ALTER TABLE heddle.archive_contents ALTER COLUMN content SET STORAGE EXTERNAL;
ALTER TABLE heddle.part_contents ALTER COLUMN content SET STORAGE EXTERNAL;
ALTER TABLE heddle.posting_blocks ALTER COLUMN postings SET STORAGE EXTERNAL;
ALTER TABLE heddle.vectors ALTER COLUMN embedding SET STORAGE EXTERNAL;
ALTER TABLE heddle.item_vectors ALTER COLUMN embedding SET STORAGE EXTERNAL;

-- The functions below run as the owner of the tables and look across projects, for ids alone: each row that they name is then
-- worked on in a transaction of its own project. An owner that is not a superuser needs these policies to see any row.
CREATE POLICY owner_reads_all ON heddle.projects FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.stage_cursors FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.events FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.dead_letters FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.tombstones FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.context_states FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.contexts FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.context_lines FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.context_deliveries FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.context_items FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.snapshots FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.summary_calls FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_reads_all ON heddle.vector_threads FOR SELECT TO CURRENT_USER USING (true);

-- Threads with a stage behind their head, those first that have lagged longest. A thread that a stage gave up on comes once its
-- `retry_at` has passed. Both branches read the partial index `stage_cursors_lagging` in its order. `max_rows` limits threads;
-- all lagging stages of a thread come together. Before summarize has caught up, a thread names its next stage alone: prune, unless
-- a pending compaction waits for its summary.
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
		VALUES
			(CASE
				WHEN lagging.prune_seq < lagging.head_seq THEN 'prune'
				WHEN lagging.summarize_seq >= lagging.head_seq THEN NULL
				WHEN EXISTS (
					SELECT FROM heddle.context_states
					WHERE context_states.thread_id = lagging.thread_id AND context_states.status = 'pending') THEN 'summarize'
				ELSE 'prune'
			END),
			(CASE WHEN lagging.embed_seq < lagging.head_seq THEN 'embed' END)
	) AS behind (stage)
	WHERE behind.stage IS NOT NULL
$$;

-- Contexts that were requested before a time and are neither built nor failed, oldest first.
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

-- Threads with a compaction that has waited for its summary since before a time.
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

-- Dead letters that were redriven before a time, oldest first.
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

-- Projects whose oldest event is older than a time. Event numbers rise with time, so the first event of each project is enough.
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

-- Threads with iterations that the progress summary does not cover yet, those first that no stage has given up on.
CREATE FUNCTION heddle.lagging_progress(max_rows integer, at_time timestamptz)
RETURNS TABLE (project_id uuid, thread_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT lagging.project_id, lagging.thread_id
	FROM heddle.stage_cursors AS lagging
	WHERE lagging.progress_count < lagging.iteration_count
		AND (lagging.retry_at IS NULL OR lagging.retry_at <= at_time)
	ORDER BY lagging.retry_at NULLS FIRST
	LIMIT max_rows
$$;

-- Calls to summarizers that were made before a time, oldest first.
CREATE FUNCTION heddle.expired_summary_calls(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT summary_calls.project_id, summary_calls.id
	FROM heddle.summary_calls
	WHERE summary_calls.created_at < before
	ORDER BY summary_calls.created_at
	LIMIT max_rows
$$;

-- Threads that have vectors of another model and fewer of this one: they have to be embedded again.
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

-- Contexts whose bytes were delivered before a time, oldest first. Without `context_lines` the bytes cannot be rebuilt, and stay.
CREATE FUNCTION heddle.expired_deliveries(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT context_deliveries.project_id, context_deliveries.context_id
	FROM heddle.context_deliveries
	WHERE context_deliveries.delivered_at < before
		AND EXISTS (SELECT FROM heddle.context_lines WHERE context_lines.id = context_deliveries.context_id)
	ORDER BY context_deliveries.delivered_at
	LIMIT max_rows
$$;

-- Snapshots that were requested before a time and are neither saved nor failed, oldest first.
CREATE FUNCTION heddle.requested_snapshots(max_rows integer, requested_before timestamptz)
RETURNS TABLE (project_id uuid, snapshot_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT snapshots.project_id, snapshots.id
	FROM heddle.snapshots
	WHERE snapshots.status = 'requested' AND snapshots.created_at <= requested_before
	ORDER BY snapshots.created_at
	LIMIT max_rows
$$;

-- Item usage of contexts that were built before a time, oldest first.
CREATE FUNCTION heddle.expired_context_items(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT context_items.project_id, context_items.context_id
	FROM heddle.context_items
	WHERE context_items.built_at < before
	ORDER BY context_items.built_at
	LIMIT max_rows
$$;

-- Contexts and snapshots that were requested after one time and finished before another, without an event: their process ended
-- between the commit and the event. Each is one look-up in `events_subject`.
CREATE FUNCTION heddle.untold_events(max_rows integer, asked_after timestamptz, made_before timestamptz)
RETURNS TABLE (project_id uuid, topic text, thread_id uuid, subject_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 10
AS $$
	(SELECT contexts.project_id, 'context.built', contexts.thread_id, contexts.id
	FROM heddle.contexts
	WHERE contexts.status <> 'requested' AND contexts.status = 'built'
		AND contexts.requested_at > asked_after AND contexts.requested_at <= made_before AND contexts.built_at <= made_before
		AND NOT EXISTS (
			SELECT FROM heddle.events WHERE events.subject_id = contexts.id AND events.topic = 'context.built')
	ORDER BY contexts.requested_at
	LIMIT max_rows)
	UNION ALL
	(SELECT snapshots.project_id, 'snapshot.saved', NULL, snapshots.id
	FROM heddle.snapshots
	WHERE snapshots.status = 'saved' AND snapshots.created_at > asked_after AND snapshots.created_at <= made_before
		AND NOT EXISTS (
			SELECT FROM heddle.events WHERE events.subject_id = snapshots.id AND events.topic = 'snapshot.saved')
	ORDER BY snapshots.created_at
	LIMIT max_rows)
$$;

REVOKE ALL ON FUNCTION
	heddle.lagging_threads, heddle.requested_contexts, heddle.pending_states, heddle.unfinished_erasures,
	heddle.expired_contexts, heddle.expired_void_states, heddle.expired_dead_letters, heddle.expired_tombstones,
	heddle.projects_with_expired_events, heddle.lagging_progress, heddle.expired_summary_calls, heddle.lagging_vectors,
	heddle.expired_deliveries, heddle.requested_snapshots, heddle.expired_context_items, heddle.untold_events
	FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	heddle.lagging_threads, heddle.requested_contexts, heddle.pending_states, heddle.unfinished_erasures,
	heddle.expired_contexts, heddle.expired_void_states, heddle.expired_dead_letters, heddle.expired_tombstones,
	heddle.projects_with_expired_events, heddle.lagging_progress, heddle.expired_summary_calls, heddle.lagging_vectors,
	heddle.expired_deliveries, heddle.requested_snapshots, heddle.expired_context_items, heddle.untold_events
	TO heddle_app;
