#!/usr/bin/env bash
# Compiles one C++ file of your own with MicroTape and runs it.
set -euo pipefail

usage() {
  cat <<TEXT
Usage: tutorials/run.sh [--fast] [--quiet] [--with FILE].. FILE.cpp [ARGUMENTS...]

Compiles FILE.cpp with MicroTape and runs the program with ARGUMENTS.
AddressSanitizer and UndefinedBehaviorSanitizer watch your code: a rule that holds on to a variable
that is gone, or an index beyond the end, is reported with the line in your file.

  --fast        without the sanitizers, optimised
  --quiet       without the compiler's warnings
  --with FILE   a further source or object file of the program
  --help        this text

It uses build/release, which ./tutorials/start.sh makes; MICROTAPE_BUILD may name another folder.

The exit status is that of your program; 1 if it does not compile, 2 if MicroTape itself does not.
TEXT
}

say() { echo "run.sh: $*" >&2; }

way=checked
others=()
while [[ ${1:-} == -* ]]; do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --fast) way=fast; shift ;;
    --quiet) others+=(-w); shift ;;
    --with) others+=("${2:?}"); shift 2 ;;
    *) say "there is no option $1; ./tutorials/run.sh --help names them all"; exit 2 ;;
  esac
done
if [ $# -eq 0 ]; then usage >&2; exit 2; fi
file=$1
shift
if [ ! -f "$file" ]; then say "there is no file $file"; exit 2; fi

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${MICROTAPE_BUILD:-$root/build/release}
playground=$build/playground
if [ ! -f "$playground/checked/all.hpp.gch" ]; then
  say "MicroTape is not built yet; run ./tutorials/start.sh first (in $root)"
  exit 2
fi

# Two that build at once would each take what the other has half written.
locked() {
  if command -v flock >/dev/null && [ -w "$build" ]; then flock "$build/lock" "$@"; else "$@"; fi
}

# Bring the library up to date, in silence if there is nothing to do: you may have changed it.
if ! locked cmake --build "$build" --target microtape_playground 2>&1 |
  awk '/no work to do|Re-checking globbed|ninja: Entering/ { next } { print }' >&2; then
  say "MicroTape itself does not compile; see above"
  exit 2
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compiler=$(cat "$playground/compiler")
if ! "$compiler" @"$playground/$way.flags" "$file" ${others[@]+"${others[@]}"} \
  -o "$scratch/program" @"$playground/$way.link"; then
  say "$file does not compile; the first error above is the one to mend"
  exit 1
fi

# Of two settings of one name the last holds, so yours come last.
options=detect_stack_use_after_return=1:detect_leaks=0:log_path=$scratch/report
export ASAN_OPTIONS="$options:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
# The detour of stderr keeps the shell's own "Aborted" out of what the program says.
status=0
{ "$scratch/program" "$@" 2>&3 3>&-; } 3>&2 2>/dev/null || status=$?

# What a sanitizer found, without its dump of memory, and the line of yours that is nearest to it.
for report in "$scratch"/report.*; do
  if [ ! -f "$report" ]; then continue; fi
  sed '/^Shadow bytes/,$d' "$report" >&2
  line=$(grep -o -m1 -e "/$(basename "$file"):[0-9][0-9]*" "$report" | head -1) || true
  if [ -n "$line" ]; then say "the mistake came to light in ${line#/}"; fi
done
exit "$status"
