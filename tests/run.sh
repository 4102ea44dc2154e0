#!/usr/bin/env bash
# Everything that CI checks: ./tests/run.sh [--slow]; --slow adds the tests with the label slow to
# those of the release, the tutorials with sanitizers, all tests under ThreadSanitizer and with
# oneDNN's products, ten minutes of fuzzing a format, every page of the API in a browser, and the
# benchmarks in full. Ends with a line for each part: what it was, whether it passed, its time.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/setup.sh

without="slow" is_slow=no fuzz_seconds=30
case ${1:-} in
  "") ;;
  --slow) without="^$" is_slow=yes fuzz_seconds=600 ;;
  --help | -h) sed -n '2,5s/^# //p' tests/run.sh; exit 0 ;;
  *) echo "Usage: tests/run.sh [--slow]" >&2; exit 2 ;;
esac

# What only the tests need. Only CI installs a second compiler, a browser, what checks the JSON of
# tapes, what makes the site, and what benchmarks need; elsewhere they are used if they are there.
extras=()
if ! has python3; then extras+=(python3); fi
if ! has_header catch2/catch.hpp && ! has_header catch2/catch_test_macros.hpp; then
  extras+=(catch2)
fi
has_fuzzer() {
  echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
    clang++-19 -fsanitize=fuzzer -x c++ - -o /dev/null >/dev/null 2>&1
}
if [ -n "${CI:-}" ]; then
  for package in clang-19 clang-format-19; do
    if ! has "$package"; then extras+=("$package"); fi
  done
  if ! has_fuzzer; then extras+=(libclang-rt-19-dev); fi
  if ! python3 -c 'import jsonschema' 2>/dev/null; then extras+=(python3-jsonschema); fi
  if ! has_header benchmark/benchmark.h; then extras+=(libbenchmark-dev); fi
  if ! has node; then extras+=(nodejs); fi
  for package in npm chromium doxygen; do
    if ! has "$package"; then extras+=("$package"); fi
  done
fi
if [ $is_slow = yes ] && ! has_header oneapi/dnnl/dnnl.h; then extras+=(libdnnl-dev); fi
install_packages ${extras[@]+"${extras[@]}"} || exit 1
if has ccache; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_SLOPPINESS=pch_defines,time_macros
fi

report=()
failed=0

# part NAME COMMAND..: runs it and remembers how it went.
part() {
  local name=$1 start=$SECONDS result=passed
  shift
  say "$name"
  "$@" || if [ $? = 77 ]; then result=skipped; else result=FAILED failed=1; fi
  report+=("$(printf '%-8s %5d s  %s' "$result" $((SECONDS - start)) "$name")")
}

# Prints ctest's failures and its count, not the hundreds that passed.
run_ctest() {
  ctest --test-dir "$1" --parallel 2 --output-on-failure --no-tests=error --label-exclude "$2" |
    awk '/ Passed / || /^ *Start +[0-9]+:/ { next } { print }'
}

# Configures a preset, builds it, and runs its tests, but those of the installation and the browser,
# and the slow ones: a sanitizer learns nothing from every float there is.
build_and_test() {
  local preset=$1
  shift
  quietly cmake --preset "$preset" "$@" &&
    quietly cmake --build "build/$preset" --parallel 2 &&
    run_ctest "build/$preset" "slow|install|player"
}

# In CI warnings are errors; start.sh keeps what is configured already.
start_and_test() {
  if [ -n "${CI:-}" ]; then quietly cmake --preset release -D MICROTAPE_WERROR=ON || return 1; fi
  ./tutorials/start.sh && quietly cmake --build build/release --parallel 2 &&
    run_ctest build/release "$without|player"
}

# The release with another product of matrices, of which only that is compiled; then as it was.
test_reference() {
  quietly cmake --preset release -D MICROTAPE_GEMM=reference &&
    quietly cmake --build build/release --parallel 2 &&
    run_ctest build/release "slow|install|player|benchmark"
  local result=$?
  quietly cmake --preset release -D MICROTAPE_GEMM=cblas &&
    quietly cmake --build build/release --parallel 2 && return "$result"
}

drive_player() {
  ./tests/player/run.sh build/release/tests/player_pages "$PWD/build/release/tests/player"
}

# Doxygen's warnings, links that lead nowhere, and what a browser says of each page.
make_site() {
  if [ -z "${CI:-}" ] && ! has doxygen; then return 77; fi
  if [ $is_slow = yes ]; then export EVERY_PAGE=yes; fi
  ./docs/build.sh --build build/release --out build/site &&
    ./tests/site/run.sh build/site build/release/tests/player
}

# In full, each as long as it takes to tell.
run_benchmarks() {
  local program
  for program in build/release/tests/benchmarks/benchmark_*; do
    if [ ! -x "$program" ]; then return 77; fi
    "$program" || return 1
  done
}

check_format() {
  git ls-files -z -c -o --exclude-standard '*.cpp' '*.hpp' | xargs -0 "$1" --dry-run -Werror
}

first_of() {
  local name
  for name in "$@"; do
    if has "$name"; then echo "$name"; return; fi
  done
}

part "./tutorials/start.sh; release: all tests, also those of the installation" start_and_test
part "the player in Chromium" drive_player
part "the site: what is undocumented or leads nowhere, and every page in Chromium" make_site
# Benchmarks run once, above, and tutorials there and with clang.
once=(-D CMAKE_DISABLE_FIND_PACKAGE_benchmark=ON -D MICROTAPE_TUTORIALS=OFF)
part "address and undefined-behaviour sanitizers" build_and_test asan "${once[@]}" \
  -D MICROTAPE_TUTORIALS=$([ $is_slow = yes ] && echo ON || echo OFF)
part "reference matrix product" test_reference
clang=$(first_of clang++-19 clang++ clang++-18 clang++-17)
if [ -n "$clang" ]; then
  part "$clang, warnings as errors" build_and_test ci-clang -D CMAKE_CXX_COMPILER="$clang"
fi
if has_fuzzer; then
  part "$fuzz_seconds seconds of fuzzing for each format of files" ./tests/fuzz/run.sh "$fuzz_seconds"
fi
if [ $is_slow = yes ]; then
  # Without precompiled headers, so that each source is seen to include what it uses.
  part "ThreadSanitizer" build_and_test tsan "${once[@]}" \
    -D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON
  if has_header oneapi/dnnl/dnnl.h; then
    part "oneDNN" build_and_test onednn "${once[@]}"
  fi
  part "benchmarks" run_benchmarks
fi
format=$(first_of clang-format-19)
if [ -n "$format" ]; then part "format" check_format "$format"; fi

say "Summary"
printf '%s\n' "${report[@]}"
exit "$failed"
