#!/usr/bin/env bash
# A standby: copies the primary into an empty data folder, with a replication slot of its own, then follows it.
set -euo pipefail
credentials=${CREDENTIALS:-/credentials}
data=${PGDATA:-/var/lib/postgresql/data}
primary=${PRIMARY_HOST:-primary}
port=${PRIMARY_PORT:-5432}

# Named in primary_conninfo, so that no password is written there.
passfile=${PASSFILE:-/tmp/replicator.pgpass}
(umask 077 && printf '*:*:*:replicator:%s\n' "$(cat "$credentials/replicator.password")" >"$passfile")

if [ ! -s "$data/PG_VERSION" ]; then
  # What an interrupted copy left behind is of no use.
  find "$data" -mindepth 1 -delete
  chmod 700 "$data"
  source="host=$primary port=$port user=replicator passfile=$passfile application_name=$STANDBY"
  # The slot of a copy that was interrupted is there already.
  pg_basebackup -d "$source" -D "$data" -R -X stream -C -S "$STANDBY" --checkpoint=fast \
    || { find "$data" -mindepth 1 -delete; pg_basebackup -d "$source" -D "$data" -R -X stream -S "$STANDBY" --checkpoint=fast; }
fi
exec postgres -D "$data" "$@"
