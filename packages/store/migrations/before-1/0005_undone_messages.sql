CREATE TABLE "heddle"."undone_messages" (
	"thread_id" uuid NOT NULL,
	"message_id" uuid NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"undone_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"redone_at" timestamp (3) with time zone,
	CONSTRAINT "undone_messages_thread_id_message_id_pk" PRIMARY KEY("thread_id","message_id")
);
--> statement-breakpoint
ALTER TABLE "heddle"."undone_messages" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "heddle"."undone_messages" ADD CONSTRAINT "undone_messages_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE POLICY "own_project_only" ON "heddle"."undone_messages" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."undone_messages"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."undone_messages"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));--> statement-breakpoint
ALTER TABLE "heddle"."undone_messages" FORCE ROW LEVEL SECURITY;
