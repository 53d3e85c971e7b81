ALTER TABLE "heddle"."contexts" ADD COLUMN "prepared_key" text;--> statement-breakpoint
ALTER TABLE "heddle"."contexts" ADD COLUMN "prepared_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "heddle"."contexts" ADD COLUMN "lane" text;--> statement-breakpoint
ALTER TABLE "heddle"."contexts" ADD COLUMN "versions" text;--> statement-breakpoint
ALTER TABLE "heddle"."contexts" ADD COLUMN "holds_until" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "contexts_prepared" ON "heddle"."contexts" USING btree ("thread_id","prepared_key","requested_at") WHERE prepared_key is not null;