#!/usr/bin/env bash
# PostgreSQL's own regression suite, directly and through the router, against a primary of its own: the same tests must pass.
#   tests/compat/regress.sh [--keep]      --keep leaves the outputs in the folder that is printed
# Fetches the suite (apt-get source postgresql-15, the version of Debian's main suite) into build/regress when it is not there.
# SLUICE_BINARY is the program under test. Ends with 77, and the reason, where the suite cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
work=$root/build/regress
pg=/usr/lib/postgresql/15
mkdir -p "$work"

cannot() { echo "regress.sh: $1" >&2; exit 77; }

[ "${SLUICE_SKIP_INSTALL:-}" = 1 ] || bash deploy/install-deps.sh test
if [ ! -e /usr/include/postgresql/15/server/postgres.h ]; then
  [ "${SLUICE_SKIP_INSTALL:-}" != 1 ] || cannot "postgresql-server-dev-15 is missing, and SLUICE_SKIP_INSTALL forbids to install it"
  as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends bzip2 postgresql-server-dev-15 >/dev/null \
    || cannot "postgresql-server-dev-15 cannot be installed"
fi

if [ ! -e "$work/suite/parallel_schedule" ]; then
  tests/debian_source.sh bookworm postgresql-15 "$work/fetched" || cannot "the source of postgresql-15 cannot be fetched"
  rm -rf "$work/unpacked"
  mkdir -p "$work/unpacked"
  tar -xf "$work"/fetched/postgresql-15_*.orig.tar.* -C "$work/unpacked" --wildcards '*/src/test/regress/*' --strip-components 4
  mv "$work/unpacked" "$work/suite"
fi
if [ ! -e "$work/regress.so" ]; then
  cc -O2 -fPIC -shared -w -I"$($pg/bin/pg_config --includedir-server)" "$work/suite/regress.c" -o "$work/regress.so"
fi

exec env PYTHONPATH="$root/tests/integration" PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$root/tests/compat/regress.py" "$work" "$@"
