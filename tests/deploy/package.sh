#!/usr/bin/env bash
# The Debian package from build to purge, in a throw-away Debian 12: built by CPack, judged by lintian, installed, used, upgraded
# with a configuration that was edited, removed, installed again, purged. Needs root, debootstrap and the network; two or three minutes.
#   tests/deploy/package.sh [build folder]      default: build/release, where `sluice` is built
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/release}" && pwd)
. "$here/chroot.sh"

step() { echo "-- $*"; }
die() { echo "FAILED: $*" >&2; exit 1; }
expect() { local what=$1; shift; "$@" || die "$what"; }
absent() { local path; for path in "$@"; do [ ! -e "$tree$path" ] && [ ! -L "$tree$path" ] || die "$path is still there"; done; }

step "build two versions"
[ -x "$build/src/cli/sluice" ] || die "$build/src/cli/sluice is not built"
packages=$(mktemp -d)
trap 'rm -rf "$packages"; chroot_remove' EXIT
version=$(sed -n 's/^set(CPACK_PACKAGE_VERSION "\(.*\)")$/\1/p' "$build/CPackConfig.cmake")
next=$version+next
for each in "$version" "$next"; do
  (cd "$build" && cpack -D CPACK_PACKAGE_VERSION="$each" -B "$packages" >"$packages/cpack.log" 2>&1) || { cat "$packages/cpack.log"; die "cpack"; }
done
rm -rf "$packages/_CPack_Packages"
deb=$packages/sluice_${version}_$(dpkg --print-architecture).deb
deb_next=$packages/sluice_${next}_$(dpkg --print-architecture).deb
expect "the package is not where it should be: $(ls "$packages")" test -f "$deb" -a -f "$deb_next"

if command -v lintian >/dev/null; then
  step "lintian"
  expect "lintian has complaints" lintian --allow-root --fail-on error,warning "$deb"
else
  step "lintian is not installed: skipped"
fi

step "install"
chroot_make package
cp "$deb" "$tree/tmp/one.deb"
cp "$deb_next" "$tree/tmp/two.deb"
apt_update
inside apt-get install -y -qq --no-install-recommends /tmp/one.deb >"$packages/install.log" 2>&1 || { cat "$packages/install.log"; die "install"; }
expect "no word on what to do next" grep -q 'systemctl start sluice' "$packages/install.log"
expect "no user sluice" inside getent passwd sluice >/dev/null
expect "the user can log in" [ "$(inside getent passwd sluice | cut -d: -f7)" = /usr/sbin/nologin ]
expect "/etc/sluice: $(inside stat -c '%U:%G %a' /etc/sluice)" [ "$(inside stat -c '%U:%G %a' /etc/sluice)" = "root:sluice 750" ]
expect "the router is not enabled" test -L "$tree/etc/systemd/system/multi-user.target.wants/sluice.service"
absent /etc/systemd/system/multi-user.target.wants/sluice-placer.service
expect "the unit names another program" grep -q '^ExecStart=/usr/bin/sluice router -c /etc/sluice/sluice.yaml' "$tree/usr/lib/systemd/system/sluice.service"

as_sluice() { inside setpriv --reuid=sluice --regid=sluice --clear-groups --no-new-privs "$@"; }
step "the installed program, as its own user"
expect "sluice --version" as_sluice sluice --version
expect "the configuration that comes with it is not right" as_sluice sluice check -c /etc/sluice/sluice.yaml >"$packages/check.log"
expect "the placer's configuration is not right" as_sluice sluice check -c /etc/sluice/placer.yaml >>"$packages/check.log"

step "the router, started as the unit does, in a network of its own"
cat >"$packages/live" <<SCRIPT
set -eu
ip link set lo up
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$tree" setpriv --reuid=sluice --regid=sluice --clear-groups --no-new-privs \
  $(sed -n 's/^ExecStart=//p' "$tree/usr/lib/systemd/system/sluice.service") >"$packages/router.log" 2>&1 &
router=\$!
for i in \$(seq 40); do
  if curl -fsS -o /dev/null http://127.0.0.1:9632/healthz 2>/dev/null; then break; fi
  kill -0 \$router
  sleep 0.25
done
curl -fsS -o /dev/null http://127.0.0.1:9632/healthz
[ "\$(stat -c %u /proc/\$router)" = "$(inside id -u sluice)" ]
kill -TERM \$router
wait \$router
SCRIPT
unshare --net -- sh "$packages/live" || { cat "$packages/router.log"; die "the router does not run as its user"; }

step "upgrade with an edited configuration, disabled by its owner"
echo 'log_level: warning' >>"$tree/etc/sluice/sluice.yaml"
printf '"app" "SCRAM-SHA-256$4096:c2FsdA==$c3RvcmVk:c2VydmVy"\n' >"$tree/etc/sluice/userlist.txt"
inside chown root:sluice /etc/sluice/userlist.txt
inside chmod 640 /etc/sluice/userlist.txt
rm "$tree/etc/systemd/system/multi-user.target.wants/sluice.service"
edited=$(sha256sum <"$tree/etc/sluice/sluice.yaml")
inside dpkg -i /tmp/two.deb >"$packages/upgrade.log" 2>&1 || { cat "$packages/upgrade.log"; die "upgrade"; }
expect "the version is $(inside dpkg-query -W -f '${Version}' sluice)" [ "$(inside dpkg-query -W -f '${Version}' sluice)" = "$next" ]
expect "the configuration was changed" [ "$(sha256sum <"$tree/etc/sluice/sluice.yaml")" = "$edited" ]
expect "the user list is gone" test -f "$tree/etc/sluice/userlist.txt"
absent /etc/systemd/system/multi-user.target.wants/sluice.service

step "remove"
inside dpkg -r sluice >"$packages/remove.log" 2>&1 || { cat "$packages/remove.log"; die "remove"; }
absent /usr/bin/sluice /usr/lib/systemd/system/sluice.service
expect "remove took the configuration" [ "$(sha256sum <"$tree/etc/sluice/sluice.yaml")" = "$edited" ]

step "install again"
inside dpkg -i /tmp/two.deb >"$packages/again.log" 2>&1 || { cat "$packages/again.log"; die "install again"; }
expect "the configuration was changed" [ "$(sha256sum <"$tree/etc/sluice/sluice.yaml")" = "$edited" ]
absent /etc/systemd/system/sluice.service   # a mask from the removal

step "purge"
inside dpkg -P sluice >"$packages/purge.log" 2>&1 || { cat "$packages/purge.log"; die "purge"; }
expect "purge complained: $(cat "$packages/purge.log")" [ -z "$(grep -i 'warning\|not empty' "$packages/purge.log")" ]
absent /etc/sluice /etc/logrotate.d/sluice /usr/share/doc/sluice /var/log/sluice /var/log/sluice-placer
expect "the user is left" [ -z "$(inside getent passwd sluice)$(inside getent group sluice)" ]
inside apt-get -y -qq autoremove --purge >/dev/null 2>&1
left=$(inside find / -xdev -path /proc -prune -o -path /tmp -prune -o -path /var -prune -o -iname '*sluice*' -print)
left=$left$(inside find /var -xdev -iname '*sluice*' -print | grep -v '^/var/log/apt' || true)
expect "left behind: $left" [ -z "$left" ]
echo "the package installs, checks, upgrades, goes and is purged: $(basename "$deb")"
