ALTER TABLE "heddle"."archive_contents" ADD COLUMN "blocks" json;--> statement-breakpoint
-- A part of a content is read without the rest; what is compressed already gains nothing by the server's own compression.
ALTER TABLE "heddle"."archive_contents" ALTER COLUMN "content" SET STORAGE EXTERNAL;
