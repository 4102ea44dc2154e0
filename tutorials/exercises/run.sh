#!/usr/bin/env bash
# Checks an exercise and says in at most six lines how far it is right.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

exercises() { (cd "$here" && ls ./*.cpp | sed 's|^\./\(.*\)\.cpp$|\1|' | paste -sd ' ' -); }

usage() {
  cat <<TEXT
Usage: run.sh [--json RESULT.json] EXERCISE [FILE.cpp]

Checks EXERCISE.cpp, or FILE.cpp in its place, and says in at most six lines how far it is right.
The exercises: $(exercises)

  --json FILE   writes the points and what was said to FILE, for whoever grades
  --help        this text

MICROTAPE_EXERCISE_SEED=7 draws other random numbers; without it they are always the same.

The exit status is 0 if all is right, 1 if not, 2 if there is nothing to check.
TEXT
}

say() { echo "run.sh: $*" >&2; }

json=
if [ "${1:-}" = --json ] && [ $# -ge 2 ]; then json=$2; shift 2; fi
case ${1:-} in
  --help | -h) usage; exit 0 ;;
  "" | -*) usage >&2; exit 2 ;;
esac
name=$(basename "$1" .cpp)
file=${2:-$here/$name.cpp}
seed=${MICROTAPE_EXERCISE_SEED:-1}
if [ ! -f "$here/$name.cpp" ]; then say "there is no exercise $name; there are: $(exercises)"; exit 2; fi
if [ ! -f "$file" ]; then say "there is no file $file"; exit 2; fi
if [[ ! $seed =~ ^(0|[1-9][0-9]{0,17})$ ]]; then
  say "MICROTAPE_EXERCISE_SEED is $seed; it must be a whole number of at most 18 digits"
  exit 2
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

log=$scratch/log
# What a program may take; one that is right takes a tenth of a second.
memory=400 # MB
seconds=2  # of the processor
status=0

# Compiles the student's file with the checker ($1: with the sample) and runs it. It leaves in
# $scratch what it found.
build_and_run() {
  LC_ALL=C \
    ASAN_OPTIONS=hard_rss_limit_mb=$memory:max_allocation_size_mb=$memory:quarantine_size_mb=32 \
    "$playground" --with "$1" --with "$MICROTAPE_BUILD/playground/check.o" \
    --with "$MICROTAPE_BUILD/playground/main.o" "$file" "$name" "$scratch" "$seed" "$seconds" \
    </dev/null 2>"$log" || status=$?
  if [ "$status" = 2 ]; then cat "$log" >&2; exit 2; fi
}

# The files of a student's folder that are not as they were released, or are gone.
changed_files() {
  cd "$here"
  if [ ! -f checker/checksums ]; then echo checker/checksums; return; fi
  cut -d ' ' -f 3 checker/checksums | xargs cmake -E sha256sum 2>/dev/null >"$scratch/checksums" || true
  grep -vxFf "$scratch/checksums" checker/checksums | cut -d ' ' -f 3 || true
}

if [ -d "$here/source" ]; then
  # In the repository the sample is cut from the source of the exercise.
  playground=$here/../run.sh
  export MICROTAPE_BUILD=${MICROTAPE_BUILD:-$here/../../build/release}
  "$here/cut.sh" sample "$here/source/$name.cpp" >"$scratch/sample.cpp"
  build_and_run "$scratch/sample.cpp"
elif changed=$(changed_files) && [ -n "$changed" ]; then
  echo "$name: not checked: these files were changed:" $changed >"$scratch/lines"
  echo "Take them from the folder that you were given; your exercise may stay." >>"$scratch/lines"
else
  playground=$here/checker/playground.sh
  export MICROTAPE_BUILD=${MICROTAPE_BUILD:-$here/build}
  if [ ! -f "$MICROTAPE_BUILD/playground/main.o" ]; then
    echo "The first time this takes half a minute .." >&2
    if ! { cmake -S "$here" -B "$MICROTAPE_BUILD" &&
      cmake --build "$MICROTAPE_BUILD" --target microtape_playground; } >"$log" 2>&1; then
      cat "$log" >&2
      exit 2
    fi
  fi
  build_and_run "$here/checker/$name.cpp"
fi

# in_log PATTERN: the first match in what the compiler and the sanitizers said.
in_log() { grep -o -m1 -E -e "$1" "$log" | head -1; }

# The first line of the student's file that the log names.
log_line() { in_log "/?$(basename "$file"):[0-9]+" | grep -o '[0-9]*$'; }

# at_line N TEXT: the text, with the line's number and what stands there.
at_line() {
  if [ -z "$1" ]; then echo "$2"; return; fi
  echo "line $1: $2"
  sed -n "${1}s/^ */    /p" "$file"
}

# The line, at or before line N, in which a rule begins that captures by reference.
by_reference() { head -n "${1:-0}" "$file" | grep -n '\[[^]]*&[^]]*\](' | tail -1 | cut -d: -f1; }

# The student's program did not get as far as a verdict: why?
judge_without_verdict() {
  local found line capture
  line=$(log_line) || line=
  capture=$(by_reference "$line") || capture=
  if found=$(in_log 'undefined reference to .*'); then
    echo "does not compile"
    echo "$found; the name and the arguments of the op must stay as they were"
  elif in_log 'does not compile; the first error' >/dev/null; then
    found=$(in_log 'error: .*')
    echo "does not compile"
    found=${found#error: }
    at_line "$line" "${found#static assertion failed: }"
  elif in_log 'rss limit exhausted|allocation-size-too-big|out-of-memory' >/dev/null; then
    echo "took more than $memory MB of memory: is there a loop that does not end?"
  elif [ "$status" = 152 ]; then # SIGXCPU
    echo "did not end within $seconds seconds: is there a loop that does not end?"
  elif [ -n "$capture" ] && in_log 'use-after-(return|scope)|heap-use-after-free|SEGV' >/dev/null; then
    echo "crashed"
    at_line "$capture" "this rule captures by reference; when it runs, what it refers to is gone."
    echo "Capture by name what the rule needs: [x] instead of [&] or [&x]."
  elif found=$(in_log 'AddressSanitizer: (stack-overflow|[a-z-]*overflow|[^ ]*)|runtime error: .*'); then
    echo "crashed"
    case $found in
      *stack-overflow) at_line "$line" "a function calls itself without end" ;;
      *-overflow) at_line "$line" "it reads or writes beyond the end of an array" ;;
      *) at_line "$line" "${found#*: }" ;;
    esac
  elif [ "$status" = 134 ]; then # SIGABRT
    echo "the program ended before it was checked: by abort(), or by an exception that nothing catches"
  else
    echo "the program ended (status $status) before it was checked"
  fi
}
if [ ! -f "$scratch/lines" ]; then
  judge_without_verdict | sed "1s/^/$name: 0 of 100 points: /" >"$scratch/lines"
fi
if [ ! -f "$scratch/points" ]; then
  echo '"points": 0, "rules": []' >"$scratch/points"
  status=1
fi
cat "$scratch/lines"

# For whoever grades.
if [ -n "$json" ]; then
  {
    printf '{\n"exercise": "%s", "seed": %s, "of": 100,\n' "$name" "$seed"
    printf '%s,\n"said": [' "$(cat "$scratch/points")"
    sed 's/\\/\\\\/g; s/"/\\"/g; s/[[:cntrl:]]/ /g; s/.*/"&"/; $!s/$/,/' "$scratch/lines"
    printf ']\n}\n'
  } >"$json"
fi
exit "$status"
