#!/usr/bin/env bash
# Runs the stages of docker/Dockerfile in throw-away Debian 12 trees where there is no container engine, then the program in the
# last one: as its user, with the command and the health check of the Dockerfile. Needs root, debootstrap and the network.
#   docker/check-in-chroot.sh                    everything, compiling included: half an hour on a small machine
#   docker/check-in-chroot.sh --program FILE     does not compile: configures, and takes FILE for what would have been built
# What it cannot tell: whether the base image is like debootstrap's minimal tree, and how the engine's own isolation behaves.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
program=
case ${1:-} in
  '') ;;
  --program) program=$(readlink -f "$2") ;;
  *) sed -n '2,/^set /p' "$0" | sed -n 's/^# \{0,1\}//p'; exit 2 ;;
esac
. "$root/tests/deploy/chroot.sh"

declare -A stages
workdir=/ user= health= entrypoint= command=
die() { echo "FAILED: $*" >&2; exit 1; }

# The context: what git knows, which is what .dockerignore leaves of a clean tree.
context() { (cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 -n 500 sh -c 'for f; do [ ! -e "$f" ] || printf "%s\0" "$f"; done' - | tar --null -T - -cf -); }

copy() {
  local from=$root
  if [[ $1 == --from=* ]]; then from=${stages[${1#--from=}]}; shift; fi
  local target=${!#}
  [[ $target == /* ]] || target=$workdir/$target
  local sources=("${@:1:$#-1}") each
  if [ "${sources[*]}" = . ]; then mkdir -p "$tree$target"; context | tar -xf - -C "$tree$target"; return; fi
  for each in "${sources[@]}"; do
    if [[ $target == */ ]] || [ ${#sources[@]} -gt 1 ]; then mkdir -p "$tree$target"; else mkdir -p "$(dirname "$tree$target")"; fi
    cp -a --no-preserve=ownership "$from/$each" "$tree$target"
  done
}

run() {
  local line=$1
  if [ -n "$program" ] && [[ $line == *"cmake --build"* ]]; then
    # Whatever stands before the build and after it is run; the build is not.
    line=$(sed -E 's/&& *cmake --build [^&]*/\&\& mkdir -p build\/release\/src\/cli \&\& cp \/tmp\/program build\/release\/src\/cli\/sluice /' <<<"$line")
    cp "$program" "$tree/tmp/program"
  fi
  inside sh -ec "cd '$workdir'; $line"
}

step=0
while IFS= read -r instruction; do
  step=$((step + 1))
  read -r word rest <<<"$instruction"
  echo "-- $step: ${instruction:0:150}"
  case $word in
    FROM)
      [[ $rest == debian:12-slim* ]] || die "no tree stands for $rest"
      chroot_make docker
      workdir=/ user=
      [[ $rest != *" AS "* ]] || stages[${rest##* AS }]=$tree
      ;;
    WORKDIR) workdir=$rest; mkdir -p "$tree$workdir" ;;
    COPY) eval "copy $rest" ;;
    RUN) run "$rest" >"$chroot_root/build/docker-step.log" 2>&1 || { tail -n 40 "$chroot_root/build/docker-step.log"; die "step $step"; } ;;
    USER) user=$rest ;;
    HEALTHCHECK) health=${rest#*CMD } ;;
    ENTRYPOINT) entrypoint=$(tr -d '[],"' <<<"$rest") ;;
    CMD) command=$(tr -d '[],"' <<<"$rest") ;;
    EXPOSE | STOPSIGNAL) ;;
    *) die "does not know $word" ;;
  esac
done < <(sed -e '/^#/d' -e '/^ *$/d' "$here/Dockerfile" | sed -e ':a' -e '/\\$/{N;s/\\\n *//;ba}')

as_user() { inside setpriv --reuid="$user" --regid="$user" --clear-groups --no-new-privs "$@"; }
echo "-- the last stage, as $user"
[ "$(inside id -u "$user")" = 6432 ] || die "the user is not 6432"
as_user ldd "${entrypoint}" | grep 'not found' && die "libraries are missing"
as_user "$entrypoint" --version
mkdir -p "$tree/etc/sluice"
sed 's/^auth_file:.*/auth_file: userlist.txt/' "$root/conf/sluice.yaml" >"$tree/etc/sluice/sluice.yaml"
cp "$root/conf/userlist.txt.example" "$tree/etc/sluice/userlist.txt"
as_user "$entrypoint" check -c /etc/sluice/sluice.yaml >/dev/null || die "check"

# A network of its own, without a way out: no server can be reached, which is what the health check has to say.
cat >"$tree/tmp/live" <<SCRIPT
set -eu
cd /
setpriv --reuid=$user --regid=$user --clear-groups --no-new-privs $entrypoint $command >/tmp/log 2>&1 &
router=\$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  if curl -fsS -o /dev/null http://127.0.0.1:9632/healthz 2>/dev/null; then break; fi
  kill -0 \$router || { cat /tmp/log; exit 1; }
  sleep 0.5
done
curl -fsS http://127.0.0.1:9632/healthz
if sh -c '$health' 2>/dev/null; then echo "the health check is content without a server"; exit 1; fi
kill -TERM \$router
wait \$router
SCRIPT
unshare --net -- sh -ec "ip link set lo up; exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot '$tree' sh /tmp/live" || die "the program in the last stage"
built="compiled in the first stage"
[ -z "$program" ] || built="NOT compiled in the first stage, which was configured only; $program stood in"
echo "every step of docker/Dockerfile ran; the program ($built) starts, answers and stops as $user"
