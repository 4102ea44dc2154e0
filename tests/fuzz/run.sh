#!/usr/bin/env bash
# Fuzzes what reads files: ./tests/fuzz/run.sh [seconds for each, 30]. Needs clang 19 with libFuzzer.
# Replays the corpus first. An input that breaks a reader is kept in build/fuzz, its path printed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/setup.sh

seconds=${1:-30}
case $seconds in
  --help | -h) sed -n '2,3s/^# //p' tests/fuzz/run.sh; exit 0 ;;
  "" | *[!0-9]*) echo "Usage: tests/fuzz/run.sh [seconds]" >&2; exit 2 ;;
esac

out=build/fuzz
flags="-std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
flags+=" -fno-omit-frame-pointer -I tests -I $out/include"
rm -rf $out/core  # objects of sources that are gone
mkdir -p $out/include $out/found $out/core

# The files that a fuzzer writes, 10,000 in a second, lie in memory if they can.
scratch=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Only core/ is needed, and watched by libFuzzer: it includes nothing from above, as a test sees.
ln -sfn "$PWD" $out/include/microtape
compile() {
  find core -name '*.cpp' ! -name gemm_cblas.cpp ! -name gemm_onednn.cpp -print0 | xargs -0 -P 2 -I '{}' sh -c \
    "${CMAKE_CXX_COMPILER_LAUNCHER:-} clang++-19 $flags -fsanitize=fuzzer-no-link -c {} \
       -o $out/core/\$(echo {} | tr / _).o"
}
quietly compile || exit 1

# fuzz NAME FOLDER..: builds NAME_fuzz.cpp, replays the files of the folders, then makes new ones.
# Inputs that reach new code are kept for the next time. Prints one line.
fuzz() {
  local name=$1 log=$out/$1.log
  shift
  mkdir -p "$out/corpus/$name"
  quietly clang++-19 $flags -fsanitize=fuzzer "tests/fuzz/${name}_fuzz.cpp" $out/core/*.o -pthread \
    -o "$out/$name" || return 1
  # A reader that asks for more than the file is worth is broken too.
  local limits=(-rss_limit_mb=2048 -malloc_limit_mb=64 -timeout=10)
  limits+=(-artifact_prefix="$out/found/$name-")
  if TMPDIR=$scratch "$out/$name" "${limits[@]}" -runs=0 "$@" >"$log" 2>&1 &&
    TMPDIR=$scratch "$out/$name" "${limits[@]}" -max_total_time="$seconds" \
      -dict="tests/fuzz/$name.dict" "$out/corpus/$name" "$@" >>"$log" 2>&1; then
    echo "$name: $(sed -n 's/^Done \(.*\) second.*/\1 s/p' "$log" | tail -1), nothing found"
  else
    cat "$log" >&2
    echo "$name: FAILED: $(sed -n 's/.*Test unit written to //p' "$log" | grep . || echo "see $log")"
    return 1
  fi
}

# Both at once: each keeps one core busy.
failed=0
fuzz npy tests/fuzz/corpus/npy tests/reference/npy &
fuzz safetensors tests/fuzz/corpus/safetensors || failed=1
wait $! || failed=1
exit $failed
