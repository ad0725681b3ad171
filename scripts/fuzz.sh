#!/usr/bin/env bash
# Runs targets of tests/fuzz under libFuzzer, AddressSanitizer and UBSan, one after the other. Prints a table in Markdown; what the
# build and libFuzzer say goes to stderr and to build/fuzz/logs.
# usage: scripts/fuzz.sh TARGET[,TARGET...]|all [--runs N | --seconds N]
#   TARGET       the NAME of a tests/fuzz/NAME_fuzz.cc
#   --runs N     so many inputs a target
#   --seconds N  so long a target (60)
# New inputs that reach more code stay in build/fuzz/corpus/TARGET, and the next run begins with them. Findings stay in
# build/fuzz/findings/TARGET. A target ends with its first finding. Exit code 1: there was one. Exit code 130:
# there was none, and a target was interrupted.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n '/^# usage/,/^[^#]/{s/^# \?//p}' "$0" >&2; exit 2; }

all_targets() {
  local source
  for source in tests/fuzz/*_fuzz.cc; do basename "$source" _fuzz.cc; done
}

[ $# -ge 1 ] || usage
arguments="$*"
wanted=$1
shift
runs=-1  # no limit
seconds=60
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] && [[ $2 =~ ^[0-9]+$ ]] || usage
  case "$1" in
    --runs) runs=$((10#$2)) seconds=0 ;;
    --seconds) seconds=$((10#$2)) runs=-1 ;;
    *) usage ;;
  esac
  shift 2
done
if [ "$wanted" = all ]; then
  mapfile -t targets < <(all_targets)
else
  IFS=, read -ra targets <<<"$wanted"
  for target in "${targets[@]}"; do
    [ ! -e "tests/fuzz/${target}_fuzz.cc" ] || continue
    echo "no target is called '$target'; there are $(all_targets | paste -sd ' ')" >&2
    exit 2
  done
fi

INTERRUPTED=72  # libFuzzer's exit code after Ctrl-C
# Inputs of one process. AddressSanitizer keeps a record of every thread that a process has had, and tcp_frames has two an input.
# The next process begins with the inputs that this one kept.
MOST_RUNS=2000000
build=build/fuzz
mkdir -p "$build/logs"
{
  cmake --preset fuzz
  cmake --build "$build" --target "${targets[@]/#/fuzz_}"
} >&2
# The programs of this commit are copied. A later build does not change what a long run executes.
programs=$(mktemp -d "$build/programs.XXXXXX")
trap 'rm -rf "$programs"' EXIT
for target in "${targets[@]}"; do cp "$build/bin/fuzz_$target" "$programs"; done

# The last number that a pattern with one group finds in a log; - if there is none.
# usage: number_in LOG PATTERN
number_in() {
  local found
  found=$(sed -nE "s/.*$2.*/\1/p" "$1" | tail -n 1)
  echo "${found:--}"
}

# Prints a row of the table. Returns 1 for a finding, and INTERRUPTED after Ctrl-C.
# usage: run_target NAME
run_target() {
  local name=$1 status=0 begin=$SECONDS
  local log="$build/logs/$name.log" corpus="$build/corpus/$name" findings="$build/findings/$name"
  mkdir -p "$corpus" "$findings"
  local options=(-timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=512 -print_final_stats=1 -artifact_prefix="$findings/")
  [ ! -e "tests/fuzz/$name.dict" ] || options+=(-dict="tests/fuzz/$name.dict")
  local executions=0 before most=$MOST_RUNS left=$seconds edges finding=none
  : >"$log"
  # Short records of allocations: an input is executed up to 1.7 times as fast. The one input of a finding, given to the program
  # alone, has full ones. AddressSanitizer keeps 1 MB of freed memory back: more does not stay in the processor's cache.
  while true; do
    [ "$runs" -lt 0 ] || [ $((runs - executions)) -gt "$most" ] || most=$((runs - executions))
    RINGSIDE_FUZZ_SEEDS="$corpus" UBSAN_OPTIONS=print_stacktrace=1 \
      ASAN_OPTIONS=malloc_context_size=1:quarantine_size_mb=1:thread_local_quarantine_size_kb=16:detect_stack_use_after_return=0 \
      "$programs/fuzz_$name" "${options[@]}" -runs="$most" -max_total_time="$left" \
      "$corpus" "tests/fuzz/corpus/$name" >>"$log" 2>&1 || status=$?
    before=$executions
    executions=$(awk '/^stat::number_of_executed_units:/ {sum += $2} END {printf "%.0f", sum}' "$log")
    if [ "$status" -ne 0 ] || [ "$executions" -eq "$before" ]; then break; fi
    if [ "$runs" -ge 0 ]; then
      [ "$executions" -lt "$runs" ] || break
    else
      left=$((seconds - (SECONDS - begin)))
      [ "$left" -gt 0 ] || break
    fi
  done
  edges=$(number_in "$log" ' cov: ([0-9]+) ')
  if [ "$status" -eq "$INTERRUPTED" ]; then
    finding="none, interrupted"
  elif [ "$status" -ne 0 ]; then
    finding=$(grep -m 1 -oE '(SUMMARY|ERROR): .*' "$log" || tail -n 1 "$log")
    finding="${finding//|//}"
    echo "$name: a finding, see $log" >&2
  fi
  echo "| $name | $executions | $((SECONDS - begin)) | $edges | $finding |"
  [ "$status" -eq 0 ] || [ "$status" -eq "$INTERRUPTED" ] || return 1
  return "$status"
}

echo "Commit $(git describe --always --dirty --abbrev=12 --exclude='*'). Command: \`scripts/fuzz.sh $arguments\`."
echo
echo "| target | executions | seconds | edges of the program covered | findings |"
echo "|---|---:|---:|---:|---|"
found=0
interrupted=0
for target in "${targets[@]}"; do
  status=0
  run_target "$target" || status=$?
  case "$status" in
    0) ;;
    "$INTERRUPTED") interrupted=130 ;;
    *) found=1 ;;
  esac
done
[ "$found" -eq 0 ] || exit 1
exit "$interrupted"
