#!/bin/bash
# Builds the PgBouncer of Debian 13, which knows named prepared statements in transaction mode, from its source package.
#
# usage: build_pgbouncer.sh FOLDER      the program is FOLDER/pgbouncer; nothing is done if it is there
set -euo pipefail

folder=${1:?usage: build_pgbouncer.sh FOLDER}
[ -x "$folder/pgbouncer" ] && exit 0
"$(dirname "$0")/../../debian_source.sh" trixie pgbouncer "$folder"
cd "$folder"
apt-get -q install -y --no-install-recommends dpkg-dev libevent-dev libssl-dev pkg-config make gcc python3 libtool autoconf automake
rm -rf source
dpkg-source --no-check -x pgbouncer_*.dsc source
cd source
[ -x configure ] || ./autogen.sh
CFLAGS="-O2 -g" ./configure --without-pam --without-cares
make -j2 pgbouncer
cp pgbouncer ../pgbouncer
