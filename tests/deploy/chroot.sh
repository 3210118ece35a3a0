# Sourced: throw-away Debian 12 trees to install into. Needs root and debootstrap.
#   chroot_make NAME    a fresh tree; its path is in $tree, and it is removed when the script ends
#   inside COMMAND...   runs COMMAND in $tree
# SLUICE_CHROOT_BASE names a tree that debootstrap made before; without it one is made, once per checkout, in build/.
# /proc and /dev/null are all that is mounted or made in it, in a mount namespace of our own: what dies leaves nothing mounted.

if [ "$(id -u)" -ne 0 ]; then echo "needs root, for chroot" >&2; exit 77; fi
if [ -z "${SLUICE_IN_NAMESPACE:-}" ]; then
  SLUICE_IN_NAMESPACE=1 exec unshare --mount --propagation private -- "$BASH" "$0" "$@"
fi

chroot_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
chroot_base=${SLUICE_CHROOT_BASE:-$chroot_root/build/chroot-base}
chroot_trees=()

chroot_remove() {
  local each
  for each in "${chroot_trees[@]}"; do
    if mountpoint -q "$each/proc"; then umount "$each/proc"; fi
    rm -rf --one-file-system "$each"
  done
}
trap chroot_remove EXIT

chroot_make() {
  if [ ! -x "$chroot_base/usr/bin/dpkg" ]; then
    command -v debootstrap >/dev/null || { echo "needs debootstrap" >&2; exit 77; }
    echo "debootstrap: Debian 12 into $chroot_base"
    local mirror
    mirror=${SLUICE_DEBIAN_MIRROR:-$("$chroot_root/tests/debian_archive.sh")}
    debootstrap --variant=minbase bookworm "$chroot_base" "$mirror" >"$chroot_base.log" 2>&1 \
      || { tail -n 20 "$chroot_base.log" >&2; exit 1; }
  fi
  tree=$(mktemp -d "/tmp/sluice-$1-XXXXXX")
  chroot_trees+=("$tree")
  chmod 755 "$tree"
  cp -a "$chroot_base/." "$tree"
  cp /etc/resolv.conf "$tree/etc/resolv.conf"
  cp /etc/hosts "$tree/etc/hosts"
  mount -t proc proc "$tree/proc"
  # No service is started in a tree.
  printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
  chmod 755 "$tree/usr/sbin/policy-rc.d"
}

inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C HOME=/root chroot "$tree" "$@"; }

apt_update() {
  local attempt
  for attempt in 1 2 3; do inside apt-get update -qq && return; echo "apt-get update failed (attempt $attempt)" >&2; done
  return 1
}
