#!/usr/bin/env bash
# Installs the Debian packages that Sluice is built and tested with. Idempotent: with everything present it only asks dpkg.
#   deploy/install-deps.sh [build|test|demo|browser|bench|fuzz|experiment|package|all]...        default: build test
set -euo pipefail

build_packages=(
  g++ lld cmake ninja-build ccache pkg-config
  libasio-dev libssl-dev libidn-dev libpq-dev liburing-dev prometheus-cpp-dev libyaml-cpp-dev libfmt-dev libspdlog-dev libcli11-dev
  nlohmann-json3-dev libgtest-dev libgmock-dev libbenchmark-dev libboost-dev zlib1g-dev
)
test_packages=(
  clang-format-14 postgresql-15 postgresql-client-15 python3 python3-pytest python3-pytest-timeout python3-psycopg python3-psycopg2 python3-asyncpg
  patroni etcd-server python3-etcd
  prometheus docker-compose golang-go golang-github-masterminds-sprig-dev python3-kubernetes python3-yaml python3-jsonschema strace systemd
  openssl curl procps iproute2 util-linux prometheus-pgbouncer-exporter tmux haproxy logrotate
)
# Node and Java come from more than one vendor; any of them will do. The dashboard is bundled with Node.
build_commands=(node npm)
test_commands=(java)
compat_packages=(libpostgresql-jdbc-java python3-sqlalchemy python3-django ruby-rails ruby-pg)
browser_packages=(chromium fonts-dejavu-core)
bench_packages=(pgbouncer haproxy nginx-light wrk)
fuzz_packages=(clang-14 libclang-rt-14-dev)
experiment_packages=(ruby-rails puma ruby-pg iputils-ping iproute2 postgresql-15 python3)
package_packages=(debootstrap lintian dpkg-dev file)

wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=(build test)
packages=()
for set in "${wanted[@]}"; do
  case $set in
    build) packages+=("${build_packages[@]}") ;;
    test) packages+=("${test_packages[@]}" "${compat_packages[@]}") ;;
    demo) packages+=(postgresql-15 postgresql-client-15 util-linux) ;;
    browser) packages+=("${browser_packages[@]}") ;;
    bench) packages+=(postgresql-15 python3 python3-psycopg2 "${bench_packages[@]}") ;;
    fuzz) packages+=("${fuzz_packages[@]}") ;;
    experiment) packages+=("${experiment_packages[@]}") ;;
    package) packages+=("${package_packages[@]}") ;;
    all) packages+=("${build_packages[@]}" "${test_packages[@]}" "${compat_packages[@]}" "${browser_packages[@]}" "${bench_packages[@]}" "${fuzz_packages[@]}" "${experiment_packages[@]}" "${package_packages[@]}") ;;
    *) sed -n '2,3s/^# *//p' "$0" >&2; exit 2 ;;
  esac
  commands=()
  case $set in build | test | all) commands+=("${build_commands[@]}") ;; esac
  case $set in test | all) commands+=("${test_commands[@]}") ;; esac
  for command in "${commands[@]}"; do
    command -v "$command" >/dev/null && continue
    case $command in
      node) packages+=(nodejs) ;;
      npm) packages+=(npm) ;;
      java) packages+=(default-jdk-headless) ;;
    esac
  done
  if [ "$set" = test ] || [ "$set" = all ]; then
    # `java File.java` needs the compiler, which a bare runtime environment lacks.
    if command -v java >/dev/null && ! java --list-modules 2>/dev/null | grep -q '^jdk.compiler'; then
      packages+=(default-jdk-headless)
    fi
  fi
done

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "these packages are missing and need root to install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "installing: ${missing[*]}"

# The tests start servers of their own, so Debian's cluster and the packages' services are not wanted. A file that is
# already there is the machine owner's: it stays as it is.
"${as_root[@]}" mkdir -p /etc/postgresql-common
if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
  echo 'create_main_cluster = false' | "${as_root[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
fi
# Prometheus is here for promtool: its service would listen and write from now on.
if [ -d /run/systemd/system ] && [ ! -e /etc/systemd/system/prometheus.service ] && [[ " ${missing[*]} " == *" prometheus "* ]]; then
  "${as_root[@]}" ln -s /dev/null /etc/systemd/system/prometheus.service
fi

export DEBIAN_FRONTEND=noninteractive
updated=no
for attempt in 1 2 3 4 5; do
  if "${as_root[@]}" apt-get update -qq; then updated=yes; break; fi
  echo "apt-get update failed (attempt $attempt), trying again" >&2
  sleep $((attempt * 2))
done
[ "$updated" = yes ] || echo "apt-get update keeps failing; trying with the package lists that are here" >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
  -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "${missing[@]}" >/dev/null
