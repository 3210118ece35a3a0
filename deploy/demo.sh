#!/usr/bin/env bash
# Shows Sluice at work on this machine: installs what is missing (Debian packages), builds, and runs `sluice demo`: a real
# primary with five streaming standbys, the router in front of them, load that makes Premium borrow and return, and a small
# application on two compute hosts behind the placer. The dashboard's address comes first. Ctrl-C stops and removes all of it.
#   deploy/demo.sh [options of `sluice demo`]        for example --seconds 30; --help lists them
# Environment: SLUICE_SKIP_INSTALL=1 leaves apt alone; SLUICE_SKIP_BUILD=1 runs what is built.
set -euo pipefail
cd "$(dirname "$0")/.."
binary=$PWD/build/release/src/cli/sluice

say() { printf '%s\n' "$*" >&2; }

[ "${SLUICE_SKIP_INSTALL:-}" = 1 ] || bash deploy/install-deps.sh build demo

if [ "${SLUICE_SKIP_BUILD:-}" != 1 ]; then
  log=build/demo-build.log
  mkdir -p build
  if [ ! -e build/release/build.ninja ]; then
    say "configuring the release build"
    cmake --preset release >"$log" 2>&1 || { tail -n 40 "$log" >&2; exit 1; }
  fi
  # Ninja says at once when there is nothing to do; otherwise it takes minutes and shows how far it is.
  [ -x "$binary" ] || say "building; the first time takes a few minutes"
  if [ -t 2 ]; then
    # Only the line that ninja redraws; the whole output is in the log for when something fails.
    NINJA_STATUS='building [%f/%t] ' ninja -C build/release sluice 2>&1 | tee "$log" | {
      shown=no
      while IFS= read -r line; do
        case $line in 'building ['*) shown=yes; printf '\r\033[K%.100s' "$line" >&2 ;; esac
      done
      [ $shown = no ] || printf '\r\033[K' >&2
    } || { tail -n 40 "$log" >&2; exit 1; }
  else
    ninja -C build/release sluice >"$log" 2>&1 || { tail -n 40 "$log" >&2; exit 1; }
  fi
fi

# Started by root, the demo itself becomes the user postgres, whom the package brought: PostgreSQL refuses to run as root.
exec "$binary" demo "$@"
