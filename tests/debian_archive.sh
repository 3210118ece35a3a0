#!/bin/bash
# Prints where this machine's apt gets Debian's packages from.
set -euo pipefail
archives=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages')
grep -m1 '/debian/*$' <<<"$archives" || { echo "apt knows no archive of Debian: run apt-get update, or add one to /etc/apt/sources.list" >&2; exit 1; }
