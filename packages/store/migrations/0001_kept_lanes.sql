CREATE TABLE "heddle"."kept_lanes" (
	"thread_id" uuid NOT NULL,
	"lane" text NOT NULL,
	"project_id" uuid DEFAULT nullif(current_setting('heddle.project_id', true), '')::uuid NOT NULL,
	"settings" json NOT NULL,
	"asked_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"usage" json,
	CONSTRAINT "kept_lanes_thread_id_lane_pk" PRIMARY KEY("thread_id","lane")
);

ALTER TABLE "heddle"."kept_lanes" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "heddle"."kept_lanes" ADD CONSTRAINT "kept_lanes_thread_id_threads_id_fk" FOREIGN KEY ("thread_id") REFERENCES "heddle"."threads"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "kept_lanes_asked" ON "heddle"."kept_lanes" USING btree ("asked_at");
CREATE POLICY "own_project_only" ON "heddle"."kept_lanes" AS PERMISSIVE FOR ALL TO "heddle_app" USING ("heddle"."kept_lanes"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid)) WITH CHECK ("heddle"."kept_lanes"."project_id" = (select nullif(current_setting('heddle.project_id', true), '')::uuid));

-- By hand from here on: rights, and the function that looks across projects (packages/store/README.md).
ALTER TABLE heddle.kept_lanes FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON heddle.kept_lanes TO heddle_app;
CREATE POLICY owner_reads_all ON heddle.kept_lanes FOR SELECT TO CURRENT_USER USING (true);

-- Threads with a lane that was last requested before a time, some of them.
CREATE FUNCTION heddle.expired_kept_lanes(max_rows integer, before timestamptz)
RETURNS TABLE (project_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' ROWS 100
AS $$
	SELECT DISTINCT lanes.project_id, lanes.thread_id
	FROM (
		SELECT kept_lanes.project_id, kept_lanes.thread_id
		FROM heddle.kept_lanes
		WHERE kept_lanes.asked_at < before
		ORDER BY kept_lanes.asked_at
		LIMIT max_rows
	) AS lanes
$$;
REVOKE ALL ON FUNCTION heddle.expired_kept_lanes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION heddle.expired_kept_lanes TO heddle_app;
