#!/usr/bin/env bash
# Checks an exercise and says in at most six lines how far it is right.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

exercises() { (cd "$here" && ls ./*.cpp | sed 's|^\./\(.*\)\.cpp$|\1|' | paste -sd ' ' -); }

usage() {
  cat <<TEXT
Usage: run.sh [--json RESULT.json] EXERCISE [FILE.cpp]

Checks EXERCISE.cpp, or FILE.cpp in its place, and says in at most six lines how far it is right.
EXERCISE may be the path of a file that is called like the exercise.
The exercises: $(exercises)

  --json FILE   writes the points and what was said to FILE, for whoever grades
  --help        this text

MICROTAPE_EXERCISE_SEED=7 draws other random numbers; without it they are always the same.

The exit status is 0 if all is right, 1 if not, 2 if there is nothing to check.
TEXT
}

fail() {
  echo "run.sh: $*" >&2
  exit 2
}

json=
if [ "${1:-}" = --json ] && [ $# -ge 2 ]; then json=$2; shift 2; fi
case ${1:-} in
  --help | -h) usage; exit 0 ;;
  "" | -*) usage >&2; exit 2 ;;
esac
name=$(basename "$1" .cpp)
file=${2:-$here/$name.cpp}
if [[ $# = 1 && $1 = *.cpp && -f $1 ]]; then file=$1; fi
if [[ $file = -* ]]; then file=./$file; fi
seed=${MICROTAPE_EXERCISE_SEED:-1}
if [ ! -f "$here/$name.cpp" ]; then fail "there is no exercise $name; there are: $(exercises)"; fi
if [ ! -f "$file" ]; then fail "there is no file $file"; fi
if [[ $file != *.cpp ]]; then fail "$file must be called .cpp"; fi
if [[ ! $seed =~ ^(0|[1-9][0-9]{0,18})$ ]]; then
  fail "MICROTAPE_EXERCISE_SEED is $seed; a whole number, of at most 19 digits"
fi
if [ -n "$json" ] && ! { : >"$json"; } 2>/dev/null; then fail "cannot write $json"; fi
scratch=$(mktemp -d) || fail "there is no room for files that pass; is TMPDIR a folder?"
trap 'rm -rf "$scratch"' EXIT

log=$scratch/log
memory=400 # MB
status=0

# in_log PATTERN: the first match in what the compiler and the sanitizers said.
in_log() { grep -a -o -m1 -E -e "$1" "$log" | head -1; }

# Compiles the student's file with the checker ($1: with the sample) and runs it. It leaves in
# $scratch what it found.
build_and_run() {
  LC_ALL=C \
    ASAN_OPTIONS=hard_rss_limit_mb=$memory:max_allocation_size_mb=$memory:quarantine_size_mb=32 \
    "$playground" --quiet --with "$1" --with "$MICROTAPE_BUILD/playground/check.o" \
    --with "$MICROTAPE_BUILD/playground/main.o" "$file" "$name" "$scratch" "$seed" \
    </dev/null 2>"$log" || status=$?
  # Not the student's own exit(2).
  if [ "$status" = 2 ] && in_log '^run\.sh: MicroTape ' >/dev/null; then cat "$log" >&2; exit 2; fi
}

# The files of a student's folder that are not as they were released, or are gone.
changed_files() {
  cd "$here"
  if [ ! -f checker/checksums ]; then echo checker/checksums; return; fi
  cut -d ' ' -f 3 checker/checksums | xargs cmake -E sha256sum 2>/dev/null >"$scratch/checksums" || true
  grep -vxFf "$scratch/checksums" checker/checksums | cut -d ' ' -f 3 || true
}

if [ -f "$here/release.sh" ]; then
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
  if [ ! -f "$MICROTAPE_BUILD/playground/checked/all.hpp.gch" ]; then
    echo "The first time this takes half a minute .." >&2
    mkdir -p "$MICROTAPE_BUILD" || fail "MICROTAPE_BUILD may name a folder that you may write to"
    # One at a time, as in playground.sh.
    if ! (
      { flock 9 || true; } 2>/dev/null
      cmake -S "$here" -B "$MICROTAPE_BUILD" &&
        cmake --build "$MICROTAPE_BUILD" --target microtape_playground
    ) 9>"$MICROTAPE_BUILD/lock" >"$log" 2>&1; then
      cat "$log" >&2
      exit 2
    fi
  fi
  build_and_run "$here/checker/$name.cpp"
fi

# The first line of the student's file that the log names.
log_line() {
  local base
  base=$(basename "$file")
  in_log "(^|[/ ])${base//[^A-Za-z0-9_]/.}:[0-9]+" | grep -o '[0-9]*$'
}

# at_line N TEXT: the text, with the line's number and what stands there.
at_line() {
  if [ -z "$1" ]; then echo "$2"; return; fi
  echo "line $1: $2"
  sed -n "${1}s/^ */    /p" "$file" | cut -c 1-120
}

# The line, at or before line N, in which a rule begins that captures by reference: it takes Vars.
by_reference() {
  head -n "${1:-0}" "$file" | grep -n -E '\[[^]]*&[^]]*\] *\([^)]*(Var|auto)' | tail -1 | cut -d: -f1
}

# The student's program did not get as far as a verdict: why?
judge_without_verdict() {
  local found line capture
  line=$(log_line) || line=
  capture=$(by_reference "$line") || capture=
  if found=$(in_log 'undefined reference to .*'); then
    echo "does not compile"
    echo "$found; the name and the arguments of the op must stay as they were"
  elif found=$(in_log 'multiple definition of [^;]*'); then
    echo "does not compile"
    echo "$found: the checker has one; take yours away"
  elif in_log 'does not compile; the first error' >/dev/null; then
    found=$(in_log 'error: .*')
    echo "does not compile"
    found=${found#error: }
    at_line "$line" "${found#static assertion failed: }"
  elif in_log 'rss limit exhausted|allocation-size-too-big|out-of-memory' >/dev/null; then
    echo "took more than $memory MB of memory: is there a loop that does not end?"
  elif [ "$status" = 152 ] || [ "$status" = 142 ]; then # SIGXCPU; SIGALRM: it waits, or others work
    echo "did not end in time: is there a loop that does not end, or does it wait?"
  elif [ -n "$capture" ] &&
    in_log 'use-after-(return|scope)|heap-use-after-free|SEGV' >/dev/null; then
    echo "crashed"
    at_line "$capture" "this rule captures by reference; when it runs, what it refers to is gone."
    echo "Capture by name what the rule needs: [x] instead of [&] or [&x]."
  elif found=$(in_log 'AddressSanitizer: (stack-overflow|[a-z-]*overflow|[^ ]*)|runtime error: .*'); then
    echo "crashed"
    case $found in
      *stack-overflow) at_line "$line" "a function calls itself without end" ;;
      *use-after-*) at_line "$line" "what it uses is gone: does it belong to a function that has returned?" ;;
      *attempting) at_line "$line" "it frees what is free already, or what was never allocated" ;;
      *SEGV) at_line "$line" "it reads or writes where nothing is: which pointer leads there?" ;;
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
# What a rule throws may be long, and no text.
head -n 6 "$scratch/lines" | LC_ALL=C tr '\001-\011\013-\037\177' ' ' |
  { iconv -c -f UTF-8 -t UTF-8 || true; } >"$scratch/told"
cat "$scratch/told"

# For whoever grades.
if [ -n "$json" ]; then
  {
    printf '{\n"exercise": "%s", "seed": %s, "of": 100,\n' "$name" "$seed"
    printf '%s,\n"said": [' "$(cat "$scratch/points")"
    LC_ALL=C sed 's/\\/\\\\/g; s/"/\\"/g; s/[[:cntrl:]]/ /g; s/.*/"&"/; $!s/$/,/' "$scratch/told"
    printf ']\n}\n'
  } >"$json"
fi
exit "$status"
