#!/usr/bin/env bash
# Writes the folder that students get.
set -euo pipefail
if [ $# -ne 1 ] || [ "$1" = --help ]; then
  echo "Usage: tutorials/exercises/release.sh DIR"
  echo "Writes the exercises without their solutions to DIR, a new folder, to be used with an"
  echo "installed MicroTape. docs/teaching.md tells how to grade what comes back."
  [ "${1:-}" = --help ] && exit 0 || exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
if [ -e "$1" ]; then echo "release.sh: $1 is there already; name a new folder" >&2; exit 2; fi
mkdir -p "$1/checker/microtape/core" "$1/checker/microtape/tape"
cd "$1"
folder=$PWD
trap 'rm -rf "$folder"' ERR  # half of it is of no use

# The exercises.
for source in "$here"/source/*.cpp; do
  "$here/cut.sh" skeleton "$source" >"$(basename "$source")"
  "$here/cut.sh" sample "$source" >"checker/$(basename "$source")"
done

# What checks them.
cp "$here"/student/* "$here/run.sh" .
cp "$here"/checker/* "$here/../playground.cmake" checker
cp "$here/../run.sh" checker/playground.sh
cp "$root"/core/{pool.cpp,pool_depot.hpp,pool_detail.hpp,format.hpp} checker/microtape/core
cp "$root"/tape/{record.cpp,finite.hpp} checker/microtape/tape

# run.sh compares with these.
cmake -E sha256sum run.sh CMakeLists.txt checker/*.* checker/microtape/*/* >checker/checksums
