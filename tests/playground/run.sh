#!/usr/bin/env bash
# Tests tutorials/run.sh: ./run.sh BUILD, a build folder with a built library.
set -euo pipefail

export MICROTAPE_BUILD=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
run=$here/../../tutorials/run.sh
scratch="$(mktemp -d)/with a space"
trap 'rm -rf "$(dirname "$scratch")"' EXIT
mkdir "$scratch"
cp "$here"/*.cpp "$scratch"
cd "$scratch"
failed=0

# expect STATUS TEXT ARGUMENT..: run.sh with the arguments ends with STATUS (x: anything but 0) and
# prints TEXT.
expect() {
  local status=0 output
  output=$("$run" "${@:3}" 2>&1) || status=$?
  if [ "$1" = x ] && [ "$status" != 0 ]; then status=x; fi
  if [ "$status" != "$1" ] || [[ "$output" != *"$2"* ]]; then
    printf 'run.sh %s: expected status %s and "%s", got status %s and:\n%s\n' \
      "${*:3}" "$1" "$2" "$status" "$output" >&2
    failed=1
  fi
}

# The line of a file that holds the comment "the line to be named".
named_line() { echo "$1:$(grep -n 'the line to be named' "$1" | cut -d: -f1)"; }

expect 0 "Usage:" --help
expect 2 "Usage:"
expect 2 "there is no file missing.cpp" missing.cpp
expect 2 "there is no option --slow" --slow arguments.cpp
expect 7 "2 4 <one> <two words>" arguments.cpp one "two words"
expect 7 "2 4 <one>" --fast "$scratch/arguments.cpp" one
expect 1 "$(named_line does_not_compile.cpp)" does_not_compile.cpp
expect x "AddressSanitizer: stack-use-after-return" dangling_rule.cpp
expect x "the mistake came to light in $(named_line dangling_rule.cpp)" dangling_rule.cpp
expect x "AddressSanitizer: stack-use-after-scope" dangling_var.cpp
expect x "the mistake came to light in $(named_line dangling_var.cpp)" dangling_var.cpp
expect x "AddressSanitizer: heap-buffer-overflow" out_of_bounds.cpp
expect x "the mistake came to light in $(named_line out_of_bounds.cpp)" out_of_bounds.cpp
MICROTAPE_BUILD=$scratch/nothing expect 2 "run ./tutorials/start.sh first" arguments.cpp
exit "$failed"
