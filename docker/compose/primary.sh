#!/usr/bin/env bash
# Run by the image's entrypoint on the primary's first start: roles, what Sluice asks for, and who may stream.
set -euo pipefail
credentials=${CREDENTIALS:-/credentials}
secret() { cat "$credentials/$1.password"; }

psql -v ON_ERROR_STOP=1 -q --username "${POSTGRES_USER:-postgres}" --dbname "${POSTGRES_DB:-postgres}" \
  -v replicator="$(secret replicator)" -v auth="$(secret sluice_auth)" -v monitor="$(secret sluice_monitor)" \
  -v app="$(secret app)" -v ops="$(secret ops)" <<'SQL'
SET password_encryption = 'scram-sha-256';
CREATE ROLE replicator LOGIN REPLICATION PASSWORD :'replicator';
CREATE ROLE sluice_auth LOGIN PASSWORD :'auth';
CREATE ROLE sluice_monitor LOGIN PASSWORD :'monitor';
CREATE ROLE app LOGIN PASSWORD :'app';
CREATE ROLE ops LOGIN PASSWORD :'ops';
GRANT pg_monitor TO sluice_monitor;
GRANT CREATE ON SCHEMA public TO app;

-- The role that looks verifiers up sees those of roles that can log in and are no superusers, and nothing else.
CREATE FUNCTION sluice_lookup(name text, OUT usename text, OUT passwd text) RETURNS SETOF record
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS
  $$ SELECT rolname, CASE WHEN rolvaliduntil < now() THEN NULL ELSE rolpassword END
     FROM pg_authid WHERE rolname = name AND rolcanlogin AND NOT rolsuper $$;
REVOKE ALL ON FUNCTION sluice_lookup(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sluice_lookup(text) TO sluice_auth;
SQL

echo 'host replication replicator all scram-sha-256' >>"$PGDATA/pg_hba.conf"
