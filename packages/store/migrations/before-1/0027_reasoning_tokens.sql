ALTER TABLE "heddle"."contexts" ADD COLUMN "fill" text;--> statement-breakpoint
ALTER TABLE "heddle"."message_tokens" ADD COLUMN "reasoning" integer[];--> statement-breakpoint
-- Signatures were not counted: the runs with reasoning are counted anew by who reads them. An owner that is no superuser sees
-- no rows while row-level security is forced.
ALTER TABLE "heddle"."messages" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."message_tokens" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
DELETE FROM "heddle"."message_tokens" AS counted
USING "heddle"."messages" AS message
WHERE message.thread_id = counted.thread_id AND message.thinking IS NOT NULL
	AND message.seq >= counted.seq AND message.seq < counted.seq + cardinality(counted.tokens);--> statement-breakpoint
ALTER TABLE "heddle"."stage_cursors" NO FORCE ROW LEVEL SECURITY;--> statement-breakpoint
UPDATE "heddle"."stage_cursors" SET "prune_usage" = NULL WHERE "prune_usage" IS NOT NULL;--> statement-breakpoint
-- Whose reasoning is to be counted is woken by the next look of the reconciler.
UPDATE "heddle"."stage_cursors" AS lagging SET "prune_seq" = 0
WHERE EXISTS (SELECT FROM "heddle"."messages" WHERE messages.thread_id = lagging.thread_id AND messages.thinking IS NOT NULL);--> statement-breakpoint
ALTER TABLE "heddle"."stage_cursors" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."message_tokens" FORCE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."messages" FORCE ROW LEVEL SECURITY;
