#!/bin/bash
# Builds the PgBouncer of Debian 13, which knows named prepared statements in transaction mode, from its source package.
#
# usage: build_pgbouncer.sh FOLDER      the program is FOLDER/pgbouncer; nothing is done if it is there
#
# Debian's archive is asked where this machine's apt asks it; apt's own lists and settings stay as they are.
set -euo pipefail

folder=${1:?usage: build_pgbouncer.sh FOLDER}
[ -x "$folder/pgbouncer" ] && exit 0
archive=$("$(dirname "$0")/../../debian_archive.sh")
mkdir -p "$folder/lists/partial"
cd "$folder"
key=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb-src [signed-by=$key] $archive trixie main" >sources.list
apt=(apt-get -q -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::Lists="$PWD/lists"
  -o APT::Sandbox::User=root)
"${apt[@]}" update
"${apt[@]}" source --download-only pgbouncer
apt-get -q install -y --no-install-recommends dpkg-dev libevent-dev libssl-dev pkg-config make gcc python3 libtool autoconf automake
rm -rf source
dpkg-source --no-check -x pgbouncer_*.dsc source
cd source
[ -x configure ] || ./autogen.sh
CFLAGS="-O2 -g" ./configure --without-pam --without-cares
make -j2 pgbouncer
cp pgbouncer ../pgbouncer
