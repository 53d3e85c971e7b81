DROP INDEX "heddle"."archive_content";
ALTER TABLE "heddle"."archive" ALTER COLUMN "content_hash" DROP NOT NULL;