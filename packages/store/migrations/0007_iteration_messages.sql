ALTER TABLE "heddle"."iterations" ALTER COLUMN "output" DROP NOT NULL;
ALTER TABLE "heddle"."iterations" ALTER COLUMN "fingerprint" DROP NOT NULL;
ALTER TABLE "heddle"."iterations" ADD COLUMN "seq" bigint;