#!/usr/bin/env bash
# Installs what is missing, builds, runs every test, and ends with one line: `N passed, N failed`.
#   tests/run.sh           release: units, integration, the pages in a browser, foreign clients, PostgreSQL's own regression suite; address
#                          sanitizer: units and a short integration set; thread sanitizer: units; while there is time
#                          (see SLUICE_TEST_MINUTES): what is left out is said, and listed before the last line
#   tests/run.sh --quick   release units only
#   tests/run.sh --full    the default with no time limit, plus integration under the thread sanitizer, fuzz targets for
#                          minutes each, two of the experiments in small, and what is deployed (package, Dockerfile) in
#                          throw-away Debian trees
#   tests/run.sh --help    this text
# Environment: SLUICE_TEST_MINUTES (default 40) by which what is optional is to end: a step that takes longer on two processors
#              (or less on more) is left out; SLUICE_TEST_JOBS (default: processors);
#              SLUICE_SKIP_INSTALL=1 leaves apt alone; SLUICE_FUZZ_SECONDS (default 120) per fuzz target under --full.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD

mode=default
case ${1:-} in
  '') ;;
  --quick) mode=quick ;;
  --full) mode=full ;;
  --help | -h) sed -n '2,/^set /p' "$0" | sed -n 's/^# \{0,1\}//p'; exit 0 ;;
  *) echo "unknown option $1; see tests/run.sh --help" >&2; exit 2 ;;
esac

jobs=${SLUICE_TEST_JOBS:-$(nproc)}
minutes=${SLUICE_TEST_MINUTES:-40}
logs=$root/build/test-logs
mkdir -p "$logs"
rm -f "$logs"/*.xml "$logs"/*.log
passed=0 failed=0 skipped=0
failures=()
left_out=()

say() { printf '%02d:%02d  %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"; }
fail() { failed=$((failed + 1)); failures+=("$1"); say "FAILED: $1"; }
leave_out() { left_out+=("$1"); say "left out $1"; }

# time_for <minutes> <name>: whether the optional step, which takes so long on two processors, may start. One that may not is not passed
# over in silence.
time_for() {
  [ "$mode" != full ] && [ $((SECONDS + $1 * 120 / jobs)) -gt $((minutes * 60)) ] || return 0
  leave_out "for time: $2"
  return 1
}

# Adds the cases of a JUnit file to the totals; a runner that died without writing one is a failure itself.
count() {
  local name=$1 file=$2 status=$3 numbers
  if ! numbers=$(/usr/bin/python3 "$root/tests/junit_count.py" "$file" 2>>"$logs/count.log"); then
    fail "$name: no results (exit status $status)"
    return
  fi
  local p f s names
  { read -r p f s; mapfile -t names; } <<<"$numbers"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  [ ${#names[@]} -eq 0 ] || for n in "${names[@]}"; do [ -z "$n" ] || failures+=("$name: $n"); done
  if [ "$f" -eq 0 ] && [ "$status" -ne 0 ]; then fail "$name: exit status $status"; fi
  say "$name: $p passed, $f failed, $s skipped"
}

build() {
  local preset=$1
  say "build $preset"
  if cmake --preset "$preset" >"$logs/configure-$preset.log" 2>&1 \
    && cmake --build "build/$preset" -- -j"$jobs" >"$logs/build-$preset.log" 2>&1; then
    say "build $preset: done"
  else
    tail -n 40 "$logs/configure-$preset.log"
    grep -E 'error|FAILED|ninja:' "$logs/build-$preset.log" 2>/dev/null | head -n 40
    fail "build $preset"
    return 1
  fi
}

units() {
  local preset=$1 status
  say "units, $preset"
  ctest --test-dir "build/$preset" -j"$jobs" --output-on-failure --output-junit "$logs/units-$preset.xml" \
    >"$logs/units-$preset.log" 2>&1
  status=$?
  [ $status -eq 0 ] || grep -vE '^ *[0-9]+/[0-9]+ Test .*Passed|^ *Start ' "$logs/units-$preset.log" | tail -n 80
  count "units, $preset" "$logs/units-$preset.xml" $status
}

integration() {
  local preset=$1 name=$2 status
  shift 2
  say "$name, $preset"
  SLUICE_BINARY=$root/build/$preset/src/cli/sluice PYTHONDONTWRITEBYTECODE=1 \
    /usr/bin/python3 -m pytest -c tests/pytest.ini -p no:cacheprovider --junitxml "$logs/$name-$preset.xml" "$@" \
    2>&1 | tee "$logs/$name-$preset.log"
  status=${PIPESTATUS[0]}
  count "$name, $preset" "$logs/$name-$preset.xml" "$status"
}

fuzz() {
  local target name seconds=${SLUICE_FUZZ_SECONDS:-120}
  build fuzz || return
  for target in $(find build/fuzz -type f -perm -u+x -name '*_fuzz'); do
    name=$(basename "$target")
    mkdir -p "build/fuzz/corpus/$name"
    say "fuzz $name for $seconds s"
    local seeds=()
    local corpus
    corpus=$(find tests/fuzz -type d -path "*/${name%_fuzz}/corpus" | head -n 1)
    [ -z "$corpus" ] || seeds=("$corpus")
    if "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 \
      "build/fuzz/corpus/$name" "${seeds[@]}" >"$logs/$name.log" 2>&1; then
      passed=$((passed + 1))
    else
      tail -n 30 "$logs/$name.log"
      fail "fuzz $name"
    fi
  done
}

# The pages in a real browser. What drives it comes from npm, by a lock file.
browser() {
  mkdir -p build/browser
  cp tests/browser/{package.json,package-lock.json,.npmrc} build/browser/
  if (cd build/browser && npm ci --no-progress --prefer-offline) >"$logs/browser-npm.log" 2>&1; then
    integration release browser tests/browser
  else
    tail -n 20 "$logs/browser-npm.log"
    fail "the browser's packages"
  fi
}

# One case: that the same tests pass through the router as do without it. Its source comes from the net, and a machine
# without is not a failure of ours.
regression() {
  local status
  say "PostgreSQL's regression suite"
  SLUICE_BINARY=$root/build/release/src/cli/sluice bash tests/compat/regress.sh 2>&1 | tee "$logs/regress.log"
  status=${PIPESTATUS[0]}
  case $status in
    0) passed=$((passed + 1)); say "PostgreSQL's regression suite: passed" ;;
    77) leave_out "PostgreSQL's regression suite: $(sed -n 's/^regress.sh: //p' "$logs/regress.log" | tail -n 1)" ;;
    *) fail "PostgreSQL's regression suite" ;;
  esac
}

# in_tree <name> <command...>: a check in a throw-away Debian tree, which needs root and the network: status 77 says it cannot be.
in_tree() {
  local name=$1 status
  shift
  say "$name"
  "$@" 2>&1 | tee "$logs/in-tree.log"
  status=${PIPESTATUS[0]}
  case $status in
    0) passed=$((passed + 1)) ;;
    77) leave_out "$name: $(tail -n 1 "$logs/in-tree.log")" ;;
    *) fail "$name" ;;
  esac
}

# The sanitizers' reports are errors in themselves; log files would hide them from the harness, which reads stderr.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0:exitcode=99:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=0:exitcode=66:second_deadlock_stack=1}

if [ "${SLUICE_SKIP_INSTALL:-}" != 1 ]; then
  say "packages"
  sets=(build test)
  [ "$mode" = quick ] || sets+=(browser)
  [ "$mode" != full ] || sets+=(fuzz experiment package)
  bash deploy/install-deps.sh "${sets[@]}" || fail "install packages"
fi

if build release; then
  units release
  if [ "$mode" != quick ]; then integration release integration tests/integration tests/compat tests/deploy; fi
  if [ "$mode" != quick ]; then browser; fi
  if [ "$mode" != quick ] && time_for 6 "transaction mode"; then
    # Left out: what is another way in transaction mode, and tested there (stale plans; messages of an idle server).
    SLUICE_TEST_POOL_MODE=transaction integration release integration-transaction tests/compat \
      tests/integration/test_{extended_query,pipelining,copy,notices,large_messages,metrics,backpressure,limits,tls,cluster}.py --ignore tests/compat/test_frameworks.py \
      -k "not a_changed_table_is_a_matter and not messages_from_an_idle_server"
  fi
  if [ "$mode" != quick ] && time_for 4 "PostgreSQL's regression suite"; then regression; fi
fi
if [ "$mode" != quick ] && time_for 30 asan && build asan; then
  units asan
  integration asan integration-short -m short tests/integration
fi
if [ "$mode" != quick ] && time_for 30 tsan && build tsan; then
  units tsan
  if [ "$mode" = full ]; then integration tsan integration-short -m short tests/integration; fi
fi
if [ "$mode" = full ]; then
  fuzz
  for experiment in placement plb; do
    rm -rf "${logs:?}/$experiment"  # of another build, which would be refused
    say "the experiment $experiment, small"
    if tests/experiments/$experiment/run --quick --output "$logs/$experiment" 2>&1 | tee "$logs/$experiment.log"; then passed=$((passed + 1)); else fail "experiment $experiment"; fi
  done
  in_tree "the Debian package" tests/deploy/package.sh build/release
  in_tree "the Dockerfile, with the program built here" docker/check-in-chroot.sh --program build/release/src/cli/sluice
fi

if [ ${#left_out[@]} -gt 0 ]; then
  echo
  printf 'left out %s\n' "${left_out[@]}"
fi
if [ ${#failures[@]} -gt 0 ]; then
  echo
  echo "What failed (logs in build/test-logs):"
  printf '  %s\n' "${failures[@]}"
fi
echo
if [ $skipped -gt 0 ]; then
  echo "$passed passed, $failed failed, $skipped skipped"
else
  echo "$passed passed, $failed failed"
fi
[ $failed -eq 0 ]
