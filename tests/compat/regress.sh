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
  # Lists and cache of our own: the machine's sources stay as they are.
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 2>/dev/null | head -n 1)
  [ -n "$mirror" ] || cannot "apt knows no source of Debian bookworm: run apt-get update, or add one to /etc/apt/sources.list"
  mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/fetched"
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  echo "deb-src [signed-by=$keyring] $mirror bookworm main" >"$work/apt/sources.list"
  options=(-o "Dir::Etc::SourceList=$work/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$work/apt/lists"
    -o "Dir::Cache=$work/apt/cache" -o Acquire::Retries=3 -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update -qq || cannot "the lists of sources cannot be fetched from $mirror"
  (cd "$work/fetched" && apt-get "${options[@]}" source -qq --download-only postgresql-15) \
    || cannot "the source of postgresql-15 cannot be fetched from $mirror"
  rm -rf "$work/unpacked"
  mkdir -p "$work/unpacked"
  tar -xf "$work"/fetched/postgresql-15_*.orig.tar.* -C "$work/unpacked" --wildcards '*/src/test/regress/*' --strip-components 4
  mv "$work/unpacked" "$work/suite"
fi
if [ ! -e "$work/regress.so" ]; then
  cc -O2 -fPIC -shared -w -I"$($pg/bin/pg_config --includedir-server)" "$work/suite/regress.c" -o "$work/regress.so"
fi

exec env PYTHONPATH="$root/tests/integration" PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$root/tests/compat/regress.py" "$work" "$@"
