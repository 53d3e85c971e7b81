#!/bin/bash
# Creates the role that the services log in as. Run once by the image of Postgres, when its data folder is empty.
# The role exists before `heddle migrate` runs, which grants it what it needs and nothing more.
set -euo pipefail

psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set password="$HEDDLE_APP_PASSWORD" <<'SQL'
CREATE ROLE heddle_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'password';
SQL
