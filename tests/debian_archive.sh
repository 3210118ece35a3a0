#!/bin/bash
# Prints where this machine's apt gets Debian's packages from.
set -euo pipefail
archives=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages')
grep -m1 '/debian/*$' <<<"$archives" || { echo "apt knows no archive of Debian's" >&2; exit 1; }
