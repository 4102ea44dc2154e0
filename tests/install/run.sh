#!/usr/bin/env bash
# Builds and runs the project in consumer/, copied to a folder elsewhere, with MicroTape taken in
# one way: ./run.sh find_package_static|find_package_shared|add_subdirectory|fetch_content [BUILD]
# BUILD is a build folder that holds a built static library; without it one is built.
set -euo pipefail

way=$1
build=${2:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
scratch="$(mktemp -d)/with a space"
trap 'rm -rf "$(dirname "$scratch")"' EXIT
mkdir "$scratch"
cp -r "$here/consumer" "$scratch/consumer"

if command -v ninja >/dev/null; then export CMAKE_GENERATOR=Ninja; fi

fail() {
  echo "$way: $*" >&2
  exit 1
}

# Configures and builds in silence; prints everything if it fails.
quietly() {
  "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; fail "failed: $*"; }
}

consume() {
  quietly cmake -S "$scratch/consumer" -B "$scratch/consumer/build" "$@"
  quietly cmake --build "$scratch/consumer/build" --parallel 2
  "$scratch/consumer/build/consumer"
}

# Installs, moves the prefix, and looks for paths of this machine in what was installed.
consume_installed() {
  quietly cmake --install "$1" --prefix "$scratch/first prefix"
  rm -rf "$scratch/library"
  mv "$scratch/first prefix" "$scratch/moved prefix"
  if grep -rIl -e "$source" -e "$1" -e "first prefix" "$scratch/moved prefix" >&2; then
    fail "these installed files hold a path of the machine that built them"
  fi
  consume -D WAY=find_package -D CMAKE_PREFIX_PATH="$scratch/moved prefix"
}

build_library() {
  quietly cmake -S "$source" -B "$scratch/library" -D CMAKE_BUILD_TYPE=Debug \
    -D BUILD_TESTING=OFF -D MICROTAPE_TUTORIALS=OFF -D MICROTAPE_NATIVE=OFF "$@"
  quietly cmake --build "$scratch/library" --parallel 2
}

# Every exported name of a shared library is MicroTape's.
check_exports() {
  local library=$1 others
  others=$(nm -D --defined-only "$library" | awk '{print $3}' |
    grep -v -E '^_ZN[KRO]*9microtape|^_ZT[ISV]N|^_ZGVN9microtape' || true)
  if [ -n "$others" ]; then fail "these names are exported, too: $others"; fi
}

case $way in
  find_package_static)
    if [ -z "$build" ]; then
      build_library
      build=$scratch/library
    fi
    consume_installed "$build"
    ;;
  find_package_shared)
    build_library -D BUILD_SHARED_LIBS=ON
    if [ "$(uname)" = Linux ]; then check_exports "$scratch/library/libmicrotape.so"; fi
    consume_installed "$scratch/library"
    ;;
  add_subdirectory | fetch_content)
    consume -D WAY="$way" -D MICROTAPE_SOURCE="$source"
    ;;
  *)
    fail "unknown way"
    ;;
esac
