CREATE TABLE "heddle"."pins" (
	"thread_id" uuid NOT NULL,
	"message_id" uuid NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"changed_at" timestamp (3) with time zone NOT NULL,
	"is_pinned" boolean NOT NULL,
	"until" timestamp (3) with time zone,
	CONSTRAINT "pins_thread_id_message_id_changed_at_pk" PRIMARY KEY("thread_id","message_id","changed_at")
);

ALTER TABLE "heddle"."pins" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "heddle"."pins" ADD CONSTRAINT "pins_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "pins_until" ON "heddle"."pins" USING btree ("until") WHERE until is not null;
CREATE POLICY "own_project_only" ON "heddle"."pins" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."pins"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."pins"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));
-- By hand from here on: rights, and the function that looks across projects (packages/store/README.md).
ALTER TABLE heddle.pins FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON heddle.pins TO heddle_app;
CREATE POLICY owner_reads_all ON heddle.pins FOR SELECT TO CURRENT_USER USING (true);

-- Threads with a pin whose end has come, some of them.
CREATE FUNCTION heddle.expired_pins(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT DISTINCT ended.project_id, ended.thread_id
	FROM (
		SELECT pins.project_id, pins.thread_id
		FROM heddle.pins
		WHERE pins.until <= before
		ORDER BY pins.until
		LIMIT max_rows
	) AS ended
$$;
REVOKE ALL ON FUNCTION heddle.expired_pins FROM PUBLIC;
GRANT EXECUTE ON FUNCTION heddle.expired_pins TO heddle_app;
