-- By hand: the databases of projects (docs/decisions/2026-11-27-a-project-is-where-its-database-says.md). A schema of its own: the
-- tables of `heddle` belong to projects, and are in their backups.
CREATE SCHEMA heddle_placement;

-- A project without a row is in the default database. In the default database, the rows are the directory.
CREATE TABLE heddle_placement.placement (
	project_id uuid PRIMARY KEY,
	-- The name of the database of the project, as far as this database knows.
	database text NOT NULL,
	-- The number of moves until then.
	version integer NOT NULL,
	is_here boolean NOT NULL,
	-- The version with which the project is here once its former database says so.
	arriving integer,
	changed_at timestamptz NOT NULL DEFAULT now()
);

-- In the default database: the last move of each project.
CREATE TABLE heddle_placement.moves (
	project_id uuid PRIMARY KEY,
	from_database text NOT NULL,
	to_database text NOT NULL,
	state text NOT NULL CHECK (state IN ('copying', 'catching-up', 'verifying', 'switching', 'removing', 'done', 'abandoning', 'abandoned')),
	version integer NOT NULL,
	details json NOT NULL DEFAULT '{}',
	started_at timestamptz NOT NULL DEFAULT now(),
	changed_at timestamptz NOT NULL DEFAULT now()
);

-- In the default database: each other database has a range of numbers of its own, in the order in which they were first used.
CREATE TABLE heddle_placement.databases (
	name text PRIMARY KEY,
	ordinal integer NOT NULL UNIQUE
);

-- In the database that a project leaves: the rows that were written since the triggers of the move exist.
CREATE TABLE heddle_placement.changes (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	table_name text NOT NULL,
	key jsonb NOT NULL
);

-- What this database knows of a project. A transaction that waits keeps the project from leaving until it ends: the lock comes
-- first, and the next statement of the function reads what was committed before the lock was granted.
CREATE FUNCTION heddle_placement.enter(project uuid, waits boolean)
RETURNS TABLE (database text, version integer, is_here boolean, arriving integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' ROWS 1
AS $$
BEGIN
	IF waits THEN
		PERFORM pg_advisory_xact_lock_shared(46804682, hashtext(project::text));
	END IF;
	RETURN QUERY
		SELECT place.database, place.version, place.is_here, place.arriving
		FROM heddle_placement.placement AS place
		WHERE place.project_id = project;
END $$;

-- A process that does not know of other databases would create a project again where it was.
CREATE FUNCTION heddle_placement.refuse_moved() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ''
AS $$
BEGIN
	IF coalesce(current_setting('heddle.move', true), '') <> 'on' AND EXISTS (
		SELECT FROM heddle_placement.placement AS place
		WHERE place.project_id = NEW.project_id AND NOT place.is_here AND place.arriving IS NULL
	) THEN
		RAISE EXCEPTION 'the project is in another database' USING ERRCODE = 'HP001';
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER refuse_moved BEFORE INSERT ON heddle.projects
	FOR EACH ROW EXECUTE FUNCTION heddle_placement.refuse_moved();

-- The other project of a grant may be in another database, so that no foreign key refers to it. Its erasure still removes the grant;
-- its departure does not.
ALTER TABLE "heddle"."grants" DROP CONSTRAINT "grants_grantee_project_id_projects_project_id_fk";
CREATE FUNCTION heddle_placement.remove_grants() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ''
AS $$
BEGIN
	IF coalesce(current_setting('heddle.move', true), '') <> 'on' THEN
		DELETE FROM heddle.grants WHERE grantee_project_id = OLD.project_id;
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER remove_grants AFTER DELETE ON heddle.projects
	FOR EACH ROW EXECUTE FUNCTION heddle_placement.remove_grants();

GRANT USAGE ON SCHEMA heddle_placement TO heddle_app;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA heddle_placement FROM PUBLIC;
GRANT EXECUTE ON FUNCTION heddle_placement.enter(uuid, boolean) TO heddle_app;
