ALTER TABLE "heddle"."agent_clears" ADD COLUMN "request_id" uuid;--> statement-breakpoint
ALTER TABLE "heddle"."agent_clears" ADD CONSTRAINT "agent_clears_request" UNIQUE("agent_id","request_id");