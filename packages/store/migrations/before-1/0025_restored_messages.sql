ALTER TABLE "heddle"."snapshots" ADD COLUMN "erased_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."messages" ADD COLUMN "restores_seq" bigint;--> statement-breakpoint
ALTER TABLE "heddle"."stage_cursors" ADD COLUMN "restored_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "messages_restored" ON "heddle"."messages" USING btree ("thread_id","restores_seq","seq") WHERE restores_seq is not null;--> statement-breakpoint
-- Restores stored copies before. A copy whose message is there, the same in all that a context shows, becomes a mark that
-- points at it: its place, its id and its short code stay, so what was built of it still stands.
-- Row-level security binds the owner, too: for these statements it does not.
ALTER TABLE "heddle"."messages" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."stage_cursors" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."archive" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."archive_contents" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."prunings" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
WITH copies AS (
	-- By the text of the metadata: what it holds besides may be something that Postgres cannot decode.
	SELECT thread_id, seq,
		substring(metadata::text FROM '"restored":\{"snapshot":"[0-9a-f-]{36}","message":"([0-9a-f-]{36})","timestamp":"') AS original_id,
		substring(metadata::text FROM '"restored":(\{"snapshot":"[0-9a-f-]{36}","message":"[0-9a-f-]{36}","timestamp":"[^"]*"\})') AS mark
	FROM "heddle"."messages"
	WHERE metadata IS NOT NULL AND metadata::text LIKE '%"restored":{"snapshot":"%' AND usage IS NULL AND context_id IS NULL
)
UPDATE "heddle"."messages" AS copy
SET
	restores_seq = original.seq, content = '', content_escaped = false, thinking = NULL, tool_calls = NULL,
	tool_call_id = NULL, tool_name = NULL, is_error = false, source_id = NULL, model = NULL, pinned = false,
	metadata = ('{"restored":' || copies.mark || '}')::json
FROM copies
JOIN "heddle"."messages" AS original ON original.thread_id = copies.thread_id AND original.id = copies.original_id::uuid
WHERE copy.thread_id = copies.thread_id AND copy.seq = copies.seq AND copies.mark IS NOT NULL AND original.seq < copy.seq
	AND original.role = copy.role AND original.content = copy.content
	AND original.content_escaped = copy.content_escaped AND original.is_error = copy.is_error
	AND original.pinned = copy.pinned AND original.kept_aside IS NULL AND copy.kept_aside IS NULL
	AND original.thinking::text IS NOT DISTINCT FROM copy.thinking::text
	AND original.tool_calls::text IS NOT DISTINCT FROM copy.tool_calls::text
	AND original.tool_call_id IS NOT DISTINCT FROM copy.tool_call_id
	AND original.tool_name IS NOT DISTINCT FROM copy.tool_name;--> statement-breakpoint
UPDATE "heddle"."stage_cursors" AS cursor
SET restored_count = marks.count, tokens_estimate = cursor.tokens_estimate - marks.tokens
FROM (
	SELECT thread_id, count(*) AS count, sum(tokens_estimate) AS tokens
	FROM "heddle"."messages" WHERE restores_seq IS NOT NULL GROUP BY thread_id
) AS marks
WHERE cursor.thread_id = marks.thread_id;--> statement-breakpoint
-- What was archived of a copy is archived of its message: under that one's entry, where it has one, or else as that one's.
UPDATE "heddle"."archive" AS entry
SET message_id = original.id, original_created_at = original.ordered_at
FROM (
	SELECT DISTINCT ON (mark.thread_id, mark.restores_seq, entry.location)
		entry.id AS entry_id, mark.thread_id, mark.restores_seq, entry.location
	FROM "heddle"."messages" AS mark
	JOIN "heddle"."archive" AS entry ON entry.thread_id = mark.thread_id AND entry.message_id = mark.id
	WHERE mark.restores_seq IS NOT NULL
	ORDER BY mark.thread_id, mark.restores_seq, entry.location, mark.seq
) AS first
JOIN "heddle"."messages" AS original ON original.thread_id = first.thread_id AND original.seq = first.restores_seq
WHERE entry.id = first.entry_id AND NOT EXISTS (
	SELECT FROM "heddle"."archive" AS own
	WHERE own.thread_id = first.thread_id AND own.message_id = original.id AND own.location = first.location
);--> statement-breakpoint
UPDATE "heddle"."prunings" AS pruning
SET archive_id = own.id
FROM "heddle"."archive" AS entry
JOIN "heddle"."messages" AS mark
	ON mark.thread_id = entry.thread_id AND mark.id = entry.message_id AND mark.restores_seq IS NOT NULL
JOIN "heddle"."messages" AS original ON original.thread_id = mark.thread_id AND original.seq = mark.restores_seq
JOIN "heddle"."archive" AS own
	ON own.thread_id = entry.thread_id AND own.message_id = original.id AND own.location = entry.location
WHERE pruning.archive_id = entry.id;--> statement-breakpoint
WITH removed AS (
	DELETE FROM "heddle"."archive" AS entry
	USING "heddle"."messages" AS mark
	WHERE mark.thread_id = entry.thread_id AND mark.id = entry.message_id AND mark.restores_seq IS NOT NULL
	RETURNING entry.project_id, entry.content_hash
)
UPDATE "heddle"."archive_contents" AS content
SET reference_count = content.reference_count - gone.times
FROM (SELECT project_id, content_hash, count(*) AS times FROM removed GROUP BY project_id, content_hash) AS gone
WHERE content.project_id = gone.project_id AND content.hash = gone.content_hash;--> statement-breakpoint
ALTER TABLE "heddle"."messages" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."stage_cursors" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."archive" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."archive_contents" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."prunings" FORCE ROW LEVEL SECURITY;
